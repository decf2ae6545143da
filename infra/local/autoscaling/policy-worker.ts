import { serialize } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '#kernel/core/assert.ts';
import type { CustomPolicyInput } from '#infra/autoscaling/custom/custom-policy.ts';

/**
 * The thread in which a policy of the user's own runs: whatever it does to itself (an endless loop, a
 * full heap, process.exit) ends here.
 */
export type WorkerAnswer =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly detail: string };

const port = must(parentPort, 'a policy runs in a thread of its own');

const tell = (answer: WorkerAnswer): void => port.postMessage(answer);

/** Its memory is copied into the cluster's process at each decision, and back: it has to stay small. */
const MAX_ANSWER_BYTES = 1_048_576;

function answerOf(answer: unknown): WorkerAnswer {
  let bytes: number;
  try {
    bytes = serialize(answer).byteLength;
  } catch (error) {
    // A function or a class in the answer cannot be copied out of the thread.
    const detail = `what it returned is not plain data: ${describe(error)}`;
    return { kind: 'failed', detail };
  }
  if (bytes <= MAX_ANSWER_BYTES) return { kind: 'answer', answer };
  const detail = `what it returned has ${bytes} bytes; at most ${MAX_ANSWER_BYTES} are kept`;
  return { kind: 'failed', detail };
}

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

async function load(): Promise<(input: CustomPolicyInput) => unknown> {
  const { url } = workerData as { readonly url: string };
  const { default: policy } = (await import(url)) as { readonly default?: unknown };
  if (typeof policy === 'function') return policy as (input: CustomPolicyInput) => unknown;
  throw new Error('its default export is not a function');
}

try {
  const policy = await load();
  port.on('message', (input: CustomPolicyInput) => {
    try {
      tell(answerOf(policy(input)));
    } catch (error) {
      tell({ kind: 'failed', detail: `it threw ${describe(error)}` });
    }
  });
  tell({ kind: 'loaded' });
} catch (error) {
  tell({ kind: 'failed', detail: `it cannot be loaded: ${describe(error)}` });
}
