import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { afterEach, expect, test } from 'vitest';
import { DROPPED_HEADER, FolderExporter, INSTANCE_HEADER } from './folder-exporter.ts';

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  server = undefined;
});

interface Asked {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

async function collector(status: number) {
  const asked: Asked[] = [];
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(pieces).toString());
      asked.push({ headers: request.headers, body });
      response.writeHead(status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { asked, url: `http://127.0.0.1:${port}/v1/traces` };
}

async function oneSpan() {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: memory })],
  });
  provider
    .getTracer('t')
    .startSpan('handle', { startTime: 1_767_600_000_000.5 })
    .end(1_767_600_000_001.25);
  await provider.forceFlush();
  return memory.getFinishedSpans();
}

async function send(exporter: FolderExporter): Promise<ExportResult> {
  const spans = await oneSpan();
  return new Promise((resolve) => exporter.export(spans, resolve));
}

test('FolderExporter posts OTLP/JSON, and says whose spans and how many were dropped', async () => {
  const { asked, url } = await collector(200);
  const exporter = new FolderExporter({ url, instance: 'export-0', droppedSpans: () => 3 });
  expect(await send(exporter)).toEqual({ code: ExportResultCode.SUCCESS });
  await exporter.shutdown();
  expect(asked[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    [INSTANCE_HEADER]: 'export-0',
    [DROPPED_HEADER]: '3',
  });
  expect(asked[0]?.body).toMatchObject({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                name: 'handle',
                startTimeUnixNano: '1767600000000500000',
                endTimeUnixNano: '1767600000001250000',
              },
            ],
          },
        ],
      },
    ],
  });
  // What was dropped after the last request is told at the end.
  expect(asked[1]).toMatchObject({
    headers: { [DROPPED_HEADER]: '3' },
    body: { resourceSpans: [] },
  });
});

test('FolderExporter of a process that dropped nothing has nothing to tell at the end', async () => {
  const { asked, url } = await collector(200);
  const exporter = new FolderExporter({ url, instance: 'export-0', droppedSpans: () => 0 });
  await exporter.shutdown();
  expect(asked).toEqual([]);
});

test('FolderExporter: an answer other than 2xx, and no answer, fail the export', async () => {
  const { url } = await collector(500);
  const exporter = new FolderExporter({ url, instance: 'export-0', droppedSpans: () => 0 });
  const refused = await send(exporter);
  expect(refused.code).toBe(ExportResultCode.FAILED);
  expect(refused.error?.message).toBe('the collector answered 500');
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
  expect((await send(exporter)).code).toBe(ExportResultCode.FAILED);
  await exporter.shutdown();
});
