import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TachographError } from '#kernel/core/errors.ts';
import { byteRange } from './byte-range.ts';
import type { OpenFile } from './export-files.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.parquet': 'application/vnd.apache.parquet',
  '.csv': 'text/csv; charset=utf-8; header=present',
  '.json': 'application/json; charset=utf-8',
};

/** A strong validator: equal bytes, equal tag. */
const entityTag = (file: OpenFile): string => `"${file.sha256}"`;

const tagsOf = (header: string | undefined): string[] =>
  (header ?? '').split(',').map((tag) => tag.trim());

/** A range is honoured unless `If-Range` names other bytes; a date there never matches: we send none. */
function requestedRange(request: FastifyRequest, file: OpenFile): ReturnType<typeof byteRange> {
  const { range, 'if-range': ifRange } = request.headers;
  const applies =
    request.method === 'GET' && (ifRange === undefined || ifRange === entityTag(file));
  return byteRange(applies ? range : undefined, file.bytes);
}

/** Answers with an open file, whole or in part, and closes it (RFC 9110: Range, If-Range, If-None-Match). */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: OpenFile,
  path: string,
): Promise<FastifyReply> {
  void reply.headers({
    'accept-ranges': 'bytes',
    etag: entityTag(file),
    'cache-control': 'private, no-cache',
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'content-disposition': `attachment; filename="${basename(path)}"`,
    'x-content-type-options': 'nosniff',
  });
  const known = tagsOf(request.headers['if-none-match']);
  if (known.includes(entityTag(file)) || known.includes('*')) {
    await file.close();
    return reply.status(304).send();
  }
  const range = requestedRange(request, file);
  if (range.kind === 'unsatisfiable') {
    await file.close();
    void reply.removeHeader('content-type').removeHeader('content-disposition');
    void reply.header('content-range', `bytes */${file.bytes}`);
    throw new TachographError('RANGE_UNSATISFIABLE', {
      range: request.headers.range ?? '',
      bytes: file.bytes,
    });
  }
  const { start, end } = range.kind === 'part' ? range : { start: 0, end: file.bytes };
  void reply.header('content-length', end - start);
  if (range.kind === 'part') {
    void reply.status(206).header('content-range', `bytes ${start}-${end - 1}/${file.bytes}`);
  }
  if (request.method === 'HEAD') {
    await file.close();
    return reply.send();
  }
  const body = Readable.from(file.read(start, end), { objectMode: false });
  // Also when the caller goes away before the first byte, where a generator's `finally` never runs.
  body.once('close', () => void file.close());
  return reply.send(body);
}
