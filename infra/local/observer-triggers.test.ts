import { expect, test } from 'vitest';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';
import { MAX_OBSERVERS, ObserverTriggers } from './observer-triggers.ts';

const trigger = (name: string): PlainManifest => ({
  apiVersion: 'eventing.knative.dev/v1',
  kind: 'Trigger',
  metadata: { name },
});

function observers() {
  const done: string[] = [];
  const target = {
    failure: undefined as Error | undefined,
    apply: async ({ metadata }: PlainManifest) => {
      if (target.failure !== undefined) throw target.failure;
      done.push(`+${metadata.name}`);
    },
    remove: async (name: string) => {
      done.push(`-${name}`);
    },
  };
  return { observers: new ObserverTriggers([trigger('own')], target), done, target };
}

test('ObserverTriggers adds, replaces and removes what was added', async () => {
  const { observers: added, done } = observers();
  await added.add(trigger('a'));
  await added.add(trigger('a'));
  await added.remove('a');
  await added.remove('a');
  expect(done).toEqual(['+a', '+a', '-a']);
});

test('ObserverTriggers never touches a Trigger of the pipeline', async () => {
  const { observers: added, done } = observers();
  await expect(added.add(trigger('own'))).rejects.toThrow(
    'The Trigger own belongs to the pipeline',
  );
  await expect(added.remove('own')).rejects.toMatchObject({ code: 'TRIGGER_RESERVED' });
  expect(done).toEqual([]);
});

test('ObserverTriggers at its limit: one more is refused, one that is there may be replaced', async () => {
  const { observers: added } = observers();
  await Promise.all(
    Array.from({ length: MAX_OBSERVERS }, (_, index) => added.add(trigger(`t${index}`))),
  );
  await expect(added.add(trigger('more'))).rejects.toMatchObject({ code: 'OBSERVERS_TOO_MANY' });
  await added.add(trigger('t0'));
  await added.remove('t1');
  await added.add(trigger('more'));
});

test('ObserverTriggers whose apply failed: holds no place', async () => {
  const { observers: added, target } = observers();
  target.failure = new Error('no broker');
  for (let count = 0; count <= MAX_OBSERVERS; count++) {
    await expect(added.add(trigger(`t${count}`))).rejects.toThrow('no broker');
  }
  target.failure = undefined;
  await added.add(trigger('a'));
});
