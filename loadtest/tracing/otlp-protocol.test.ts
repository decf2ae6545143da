import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startCollector } from '#infra/local/tracing/start-collector.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { DONE } from '#kernel/runtime/stage.ts';
import { serveStage } from '#kernel/runtime/testing/serve-stage.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { silentLog } from '#kernel/system/log.ts';
import { startTelemetry } from '#kernel/telemetry/start.ts';
import { tracedStore } from '#kernel/telemetry/traced-store.ts';
import { readSpans } from './read-spans.ts';

/** As much of the official definitions' generated code as is used here. */
interface Decoded {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly DecodedSpan[] }[];
  }[];
}
interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface DecodedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message: string } | null;
}
interface Definitions {
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): Decoded;
}

/** The last release of the transformer that carried code generated from OTLP's own .proto files. */
const root = createRequire(import.meta.url)('otlp-definitions/build/src/generated/root.js') as {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: Definitions } };
      };
    };
  };
};
const { ExportTraceServiceRequest } = root.opentelemetry.proto.collector.trace.v1;

const folder = mkdtempSync(join(tmpdir(), 'tachograph-otlp-'));
let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  rmSync(folder, { recursive: true, force: true });
});

/** A receiver of OTLP over HTTP in protobuf. */
async function receiver() {
  const bodies: { readonly type: string | undefined; readonly body: Buffer }[] = [];
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      bodies.push({ type: request.headers['content-type'], body: Buffer.concat(pieces) });
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { bodies, url: `http://127.0.0.1:${port}/v1/traces` };
}

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

function decoded(body: Buffer) {
  const message = ExportTraceServiceRequest.decode(body);
  const { resourceSpans } = ExportTraceServiceRequest.toObject(message, {
    longs: String,
    bytes: String,
    defaults: true,
  });
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId) || null,
        name: span.name,
        startMs: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
        endMs: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
        attributes: plain(span.attributes),
        links: span.links.map((link) => [hex(link.traceId), hex(link.spanId)]),
        error: span.status?.code === 2,
        service: plain(resource.attributes)['service.name'],
        instance: plain(resource.attributes)['service.instance.id'],
      })),
    ),
  );
}

function plain(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, intValue, doubleValue, boolValue } = value;
      if (stringValue !== undefined) return [key, stringValue];
      if (intValue !== undefined) return [key, Number(intValue)];
      return [key, doubleValue ?? boolValue];
    }),
  );
}

test('what a collector decodes by the official definitions is what the folder has', async () => {
  const { bodies, url } = await receiver();
  const collector = await startCollector(folder, silentLog);
  const clock = new VirtualClock(1_767_600_000_000);
  const telemetry = await startTelemetry({
    service: 'export',
    instance: 'export-0',
    software: 'tachograph/1.2.3',
    pid: 7,
    tracesUrl: url,
    spansUrl: collector.url,
    setup: 'own',
    dbSystem: 'sqlite',
    env: {},
    clock,
    nowMs: () => clock.nowMs(),
    log: silentLog,
  });
  const trace = '0af7651916cd43dd8448eb211c80319c';
  let count = 0;
  const stage = await serveStage(
    {
      name: 'export',
      consumes: ['known'],
      handle: async (_event, { store, span }) => {
        count += 1;
        await clock.advance(12);
        await store.insert('windows', `v/s/0000000${count}/0001`, { count });
        span?.()?.link({ traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` }, { a: 1.5 });
        if (count === 3) throw new Error('planted');
        return DONE;
      },
    },
    {
      clock,
      store: tracedStore(memoryStore(), telemetry),
      log: silentLog,
      software: 'tachograph/1.2.3',
      span: () => telemetry.current(),
      emit: async () => {},
    },
    undefined,
    telemetry,
  );
  const address = await stage.listen();
  for (const id of ['a', 'b', 'c']) {
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': `v/${id}`,
      'ce-source': '/test',
      'ce-type': 'known',
      traceparent: `00-${trace}-b7ad6b7169203331-01`,
      'x-request-start': 't=1767599999.999500',
    };
    await fetch(address, { method: 'POST', headers, body: '{}' });
  }
  await stage.close();
  // Virtual time stands: it is the end of the delivery that is waited for.
  await telemetry.stop(1_000);
  await collector.close();

  const byProtocol = bodies.flatMap(({ body }) => decoded(body)).sort(bySpan);
  const inFolder = ((await readSpans(folder))?.spans ?? [])
    .map(({ marks: _marks, errorMessage: _message, links, startMs, endMs, ...span }) => ({
      ...span,
      startMs: Math.floor(startMs * 1_000) / 1_000,
      endMs: Math.floor(endMs * 1_000) / 1_000,
      links: links.map((link) => [link.traceId, link.spanId]),
    }))
    .toSorted(bySpan);
  expect(bodies.map(({ type }) => type)).toEqual(['application/x-protobuf']);
  expect(byProtocol).toHaveLength(3);
  expect(byProtocol).toEqual(inFolder);
  expect(byProtocol.map(({ traceId, error }) => [traceId, error])).toContainEqual([trace, true]);
  expect(byProtocol[0]?.attributes['tachograph.phases']).toContain('queue:-');
});

const bySpan = (a: { readonly spanId: string }, b: { readonly spanId: string }): number =>
  a.spanId < b.spanId ? -1 : 1;
