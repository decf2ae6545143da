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

function tell(answer: WorkerAnswer): void {
  try {
    port.postMessage(answer);
  } catch (error) {
    // A function or a class in the answer cannot be copied out of the thread.
    const detail = `what it returned is not plain data: ${(error as Error).message}`;
    port.postMessage({ kind: 'failed', detail } satisfies WorkerAnswer);
  }
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
      tell({ kind: 'answer', answer: policy(input) });
    } catch (error) {
      tell({ kind: 'failed', detail: `it threw ${describe(error)}` });
    }
  });
  tell({ kind: 'loaded' });
} catch (error) {
  tell({ kind: 'failed', detail: `it cannot be loaded: ${describe(error)}` });
}
