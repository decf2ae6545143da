import { expect, test } from 'vitest';
import type { Observation } from '#infra/autoscaling/policy.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { CustomEngine, DECISION_LIMIT_MS, type PolicyThread } from './custom-engine.ts';
import type { CustomPolicyInput } from '#infra/autoscaling/custom/custom-policy.ts';
import type { WorkerAnswer } from './policy-worker.ts';

const observation: Observation = { stats: [], ready: 1, replicas: 1, pods: [], lag: null };

interface FakeThread extends PolicyThread {
  readonly inputs: CustomPolicyInput[];
  answer(answer: WorkerAnswer): void;
  end(detail: string): void;
  readonly terminated: boolean;
}

function fakeThread(): FakeThread {
  let onAnswer: (answer: WorkerAnswer) => void = () => {};
  let onEnd: (detail: string) => void = () => {};
  const thread = {
    inputs: [] as CustomPolicyInput[],
    terminated: false,
    post: (input: CustomPolicyInput) => void thread.inputs.push(input),
    onAnswer: (listener: typeof onAnswer) => void (onAnswer = listener),
    onEnd: (listener: typeof onEnd) => void (onEnd = listener),
    answer: (answer: WorkerAnswer) => onAnswer(answer),
    end: (detail: string) => onEnd(detail),
    terminate: () => {
      thread.terminated = true;
      return Promise.resolve();
    },
  };
  return thread;
}

function engineFor() {
  const clock = new VirtualClock();
  const threads: FakeThread[] = [];
  const engine = new CustomEngine({
    root: '/repository',
    module: 'policies/p.ts',
    config: { factor: 2 },
    bounds: { min: 0, max: 5 },
    periodMs: 1_000,
    clock,
    openWorker: () => {
      const thread = fakeThread();
      threads.push(thread);
      return thread;
    },
  });
  return { clock, engine, threads };
}

/** Lets what was promised run. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

async function decideWith(
  engine: CustomEngine,
  threads: readonly FakeThread[],
  answer: (thread: FakeThread) => void,
): Promise<unknown> {
  const before = threads.length;
  const decision = engine.decide(observation, 1_000).catch((error: unknown) => error);
  await settle();
  if (threads.length > before) threads.at(-1)?.answer({ kind: 'loaded' });
  await settle();
  answer(threads.at(-1) as FakeThread);
  return decision;
}

test('a policy gets its config and the state it gave last', async () => {
  const { engine, threads } = engineFor();
  const answer = { desired: 2, state: { seen: 1 } };
  const first = await decideWith(engine, threads, (thread) =>
    thread.answer({ kind: 'answer', answer }),
  );
  expect(first).toMatchObject({ desired: 2 });
  await decideWith(engine, threads, (thread) => thread.answer({ kind: 'answer', answer }));
  expect(threads).toHaveLength(1);
  expect(threads[0]?.inputs.map(({ config, state }) => ({ config, state }))).toEqual([
    { config: { factor: 2 }, state: undefined },
    { config: { factor: 2 }, state: { seen: 1 } },
  ]);
});

test('a policy that throws is refused with its words; its state stays, a new thread decides next', async () => {
  const { engine, threads } = engineFor();
  const answer = { desired: 2, state: 'good' };
  await decideWith(engine, threads, (thread) => thread.answer({ kind: 'answer', answer }));
  const failure = await decideWith(engine, threads, (thread) =>
    thread.answer({ kind: 'failed', detail: 'it threw TypeError: x' }),
  );
  expect(String(failure)).toContain('policies/p.ts gave no decision: it threw TypeError: x');
  await decideWith(engine, threads, (thread) => thread.answer({ kind: 'answer', answer }));
  expect(threads).toHaveLength(2);
  expect(threads[1]?.inputs[0]?.state).toBe('good');
});

test('a policy that takes too long is ended', async () => {
  const { clock, engine, threads } = engineFor();
  const failure = decideWith(engine, threads, () => {});
  await settle();
  await clock.advance(DECISION_LIMIT_MS);
  expect(String(await failure)).toContain(`it took more than ${DECISION_LIMIT_MS} ms`);
  expect(threads[0]?.terminated).toBe(true);
});

test('a thread that ends by itself is a failed decision', async () => {
  const { engine, threads } = engineFor();
  const failure = await decideWith(engine, threads, (thread) => thread.end('it ended: heap'));
  expect(String(failure)).toContain('it ended: heap');
});

test('nonsense leaves the state as it was', async () => {
  const { engine, threads } = engineFor();
  const failure = await decideWith(engine, threads, (thread) =>
    thread.answer({ kind: 'answer', answer: { desired: -3, state: 'bad' } }),
  );
  expect(String(failure)).toContain('it wants -3 replicas');
  const answer = { desired: 1 };
  await decideWith(engine, threads, (thread) => thread.answer({ kind: 'answer', answer }));
  expect(threads[0]?.inputs.at(-1)?.state).toBeUndefined();
});
