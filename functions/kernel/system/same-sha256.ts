import { timingSafeEqual } from 'node:crypto';

/** Whether two hex SHA-256 are equal, in a time that tells nothing of them. What is no hash equals nothing. */
export function sameSha256(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, 'hex'), Buffer.from(b, 'hex')];
  return left.length === 32 && left.length === right.length && timingSafeEqual(left, right);
}
