import { createHash } from 'node:crypto';

/** Lower-case hex SHA-256. */
export const sha256Hex = (data: Uint8Array | string): string =>
  createHash('sha256').update(data).digest('hex');
