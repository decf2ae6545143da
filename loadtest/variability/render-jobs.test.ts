import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderJobs } from './render-jobs.ts';
import { exampleStudy } from './testing/example-study.ts';
import type { ProbeJob } from './probe-job.ts';

interface Job {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly completions: number;
    readonly parallelism: number;
    readonly template: {
      readonly spec: {
        readonly affinity: unknown;
        readonly containers: readonly [
          { readonly args: readonly [string, string]; readonly resources?: unknown },
        ];
      };
    };
  };
}

const study = exampleStudy({
  nodes: ['worker-1', `${'long.'.repeat(14)}example`].map((name) => ({
    name,
    millicores: 1_000,
    neighbours: 0,
  })),
  limitMillicores: 1_500,
});
const jobs = renderJobs(study, { image: 'an-image:1', namespace: 'a-namespace' });
const parsed = jobs.map(({ yaml }) => parse(yaml) as Job);

test('renderJobs: one Job a node and class, each on its node, executions one after the other', () => {
  expect(parsed).toHaveLength(4);
  const [first] = parsed;
  expect(first?.metadata).toMatchObject({
    name: 'variability-best-effort-worker-1',
    namespace: 'a-namespace',
  });
  expect(first?.spec).toMatchObject({ completions: 3, parallelism: 1 });
  expect(JSON.stringify(first?.spec.template.spec.affinity)).toContain('"values":["worker-1"]');
});

test('renderJobs: guaranteed has requests = limits, best-effort neither', () => {
  const resources = parsed.map(({ spec }) => spec.template.spec.containers[0].resources);
  const amount = { cpu: '1500m', memory: '256Mi' };
  expect(resources.slice(0, 2)).toEqual([undefined, { requests: amount, limits: amount }]);
});

test('renderJobs: the pod gets the whole study, and its cell', () => {
  const [, job] = parsed;
  const probe = JSON.parse(job?.spec.template.spec.containers[0].args[1] ?? '') as ProbeJob;
  expect(probe.study).toEqual(JSON.parse(JSON.stringify(study)));
  expect(probe.cell).toEqual({ node: 'worker-1', qos: 'guaranteed', execution: 0 });
  expect(probe.joinFile).toBeNull();
});

test('renderJobs: names are DNS labels, whatever the node is called', () => {
  for (const { metadata } of parsed) {
    expect(metadata.name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  }
  expect(jobs[0]?.yaml).toContain('Not from the pod');
});
