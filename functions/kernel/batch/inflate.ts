import type { InputType, ZlibOptions, ZstdOptions } from 'node:zlib';
import { constants, gunzip, zstdDecompress } from 'node:zlib';
import { TachographError } from '../core/errors.ts';
import { MAX_INFLATED_BYTES } from './batch-limits.ts';

/** zstd may not ask for a window beyond the largest body: 2^24 bytes. */
const MAX_WINDOW_LOG = 24;

/**
 * The body without its Content-Encoding (`gzip`, `zstd`, `identity`, or none given). What is
 * announced larger than `maxBytes` is refused before inflating, what turns out to be larger is
 * stopped while inflating. Throws BODY_ENCODING_UNKNOWN, BODY_COMPRESSION_INVALID (damaged, cut
 * short, or something behind its end) and BODY_INFLATED_TOO_LARGE.
 */
export async function inflateBody(
  body: Uint8Array,
  contentEncoding: string | undefined,
  maxBytes = MAX_INFLATED_BYTES,
): Promise<Uint8Array> {
  const encoding = (contentEncoding ?? '').trim().toLowerCase();
  switch (encoding) {
    case '':
    case 'identity':
      if (body.length > maxBytes) throw tooLarge(maxBytes);
      return body;
    case 'gzip':
    case 'x-gzip':
      checkDeclaredGzipBytes(body, maxBytes);
      return inflateWith(gunzip, { maxOutputLength: maxBytes }, body, encoding);
    case 'zstd': {
      if (declaredZstdBytes(body) > maxBytes) throw tooLarge(maxBytes);
      const params = { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG };
      return inflateWith(zstdDecompress, { maxOutputLength: maxBytes, params }, body, encoding);
    }
    default:
      throw new TachographError('BODY_ENCODING_UNKNOWN', { value: encoding });
  }
}

const tooLarge = (maxBytes: number): TachographError =>
  new TachographError('BODY_INFLATED_TOO_LARGE', { maxBytes });

/** Deflate's best: 258 bytes in a length and a distance code of one bit each, 258 * 8 / 2. */
export const MAX_DEFLATE_RATIO = 1_032;

/**
 * The last four bytes of gzip tell the length modulo 2^32, little-endian (RFC 1952, ISIZE). More
 * than deflate can make of so few bytes: the end is not there, a truncated body ends in any four
 * bytes.
 */
function checkDeclaredGzipBytes(body: Uint8Array, maxBytes: number): void {
  if (body.length < 4) return;
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const declared = view.getUint32(body.length - 4, true);
  if (declared > MAX_DEFLATE_RATIO * body.length) {
    throw invalid('gzip', `it is cut short or damaged, its end tells ${declared} bytes`);
  }
  if (declared > maxBytes) throw tooLarge(maxBytes);
}

/**
 * The content size in a zstd frame header, 0 where there is none (RFC 8878, 3.1.1.1). The
 * descriptor's high two bits give the field's length (0: none, or 1 byte in a single segment; 2, 4
 * or 8 bytes), bit 5 is the single segment, which has no window byte, the low two bits the
 * dictionary id's length.
 */
function declaredZstdBytes(body: Uint8Array): number {
  const descriptor = body[4] ?? 0;
  const single = (descriptor & 0x20) !== 0;
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const start = 5 + (single ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  if (body.length < start + sizeBytes) return 0;
  let size = 0;
  for (let index = sizeBytes - 1; index >= 0; index--)
    size = size * 256 + (body[start + index] ?? 0);
  return sizeBytes === 2 ? size + 256 : size;
}

interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

type Inflater<Options> = (
  body: InputType,
  options: Options,
  callback: (error: Error | null, result: Buffer) => void,
) => void;

function inflateWith<Options extends ZlibOptions | ZstdOptions>(
  inflate: Inflater<Options>,
  options: Options,
  body: Uint8Array,
  encoding: string,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    inflate(body, { ...options, info: true }, (error, result) => {
      if (error !== null) {
        reject(asRefusal(error, encoding, options.maxOutputLength ?? 0));
        return;
      }
      // With `info` the result also tells how much of the input was used.
      const { buffer, engine } = result as unknown as Inflated;
      const behind = body.length - engine.bytesWritten;
      if (behind === 0) resolve(buffer);
      else reject(invalid(encoding, `${behind} bytes behind its end`));
    });
  });
}

function asRefusal(error: Error, encoding: string, maxBytes: number): TachographError {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes);
  return invalid(encoding, error.message, error);
}

const invalid = (encoding: string, detail: string, cause?: Error): TachographError =>
  new TachographError('BODY_COMPRESSION_INVALID', { encoding, detail }, { cause });
