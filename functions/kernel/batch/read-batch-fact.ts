import type { BatchFact } from '../facts/facts.ts';
import { decodeBatch } from './batch-codec.ts';
import type { Batch } from './batch.ts';
import { inflateBody } from './inflate.ts';

/**
 * A stored batch in memory. It was validated when it came in, and is bounded and validated as then.
 */
export async function readBatchFact(fact: BatchFact): Promise<Batch> {
  return decodeBatch(await inflateBody(fact.body, fact.contentEncoding), fact.contentType);
}
