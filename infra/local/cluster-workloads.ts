import { join } from 'node:path';
import { drawAmount } from '#kernel/demand/draw-amount.ts';
import { parseDemands } from '#kernel/demand/parse-demand.ts';
import { randomStream } from '#kernel/core/random.ts';
import { manifestError } from './manifests/manifest-error.ts';
import type { ScaledWorkload } from './manifests/pipeline-manifests.ts';
import type { Launch, PoolWorkload } from './replicas/pool-workload.ts';
import { spawnProcess, stageEnvironment } from './replicas/spawn-process.ts';

export interface WorkloadSurroundings {
  readonly root: string;
  readonly dataDir: string;
  /** The program of an entry: its bundle, or the entry itself. */
  readonly program: (entry: string) => string;
  /** This process's environment, of which a stage sees a short fixed list. */
  readonly parentEnv: Readonly<Record<string, string | undefined>>;
  /** Where the local cluster's collector takes spans; undefined: nowhere. */
  readonly spansUrl: string | undefined;
  /** Of the artificial start delays. */
  readonly seed: number;
}

/** A workload as the pool runs it; `env` are its own variables, references looked up. */
export function poolWorkload(
  workload: ScaledWorkload,
  own: Readonly<Record<string, string>>,
  { root, dataDir, program, parentEnv, spansUrl, seed }: WorkloadSurroundings,
): PoolWorkload {
  const { name, entry, resources, terminationGraceMs, scaling } = workload;
  const logs = join(dataDir, 'logs');
  const env = stageEnvironment(parentEnv, own);
  const telemetry = telemetryEnvironment(parentEnv, spansUrl);
  const start = ({ replica, place, joinFiles, socketPath }: Launch) => {
    // The first place's log has the stage's own name: with one replica, as mostly, it is the one.
    const log = place === 0 ? name : `${name}-${place}`;
    return spawnProcess({
      entry: program(entry),
      root,
      env: {
        ...env,
        ...telemetry(replica),
        ...(socketPath === null ? {} : { LISTEN_SOCKET: socketPath }),
      },
      logPath: join(logs, `${log}.log`),
      joinFiles,
    });
  };
  const drawStartDelayMs = startDelay(workload, seed);
  return {
    name,
    start,
    logPath: join(logs, `${name}.log`),
    resources,
    terminationGraceMs,
    ...(scaling.policy === 'hpa' ? { metricWindowMs: scaling.config.metricWindowMs } : {}),
    ...(drawStartDelayMs === undefined ? {} : { drawStartDelayMs }),
  };
}

/**
 * Where a collector is set, replicas report to it by the standard variables, and to the cluster's own,
 * each under its own name. Without any they get none of these: telemetry then costs nothing.
 */
export function telemetryEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  spansUrl?: string,
): (replica: string) => Record<string, string> {
  const set = Object.entries(parent).filter(
    (entry): entry is [string, string] =>
      (entry[0].startsWith('OTEL_') || entry[0] === 'TRACING_SETUP') && entry[1] !== undefined,
  );
  if (set.length === 0 && spansUrl === undefined) return () => ({});
  const { OTEL_RESOURCE_ATTRIBUTES: attributes, ...rest } = Object.fromEntries(set);
  return (replica) => {
    const own = `service.instance.id=${replica}`;
    const all = attributes === undefined ? own : `${attributes},${own}`;
    const kept = spansUrl === undefined ? {} : { SPANS_URL: spansUrl };
    return { ...rest, ...kept, OTEL_RESOURCE_ATTRIBUTES: all };
  };
}

/** The artificial delay, written as the amount of a demand: `lognormal(mean=1.2s,cv=0.3)`. */
function startDelay({ startDelay: text, name, at }: ScaledWorkload, seed: number) {
  if (text === null) return undefined;
  try {
    const [demand] = parseDemands(`delay:${text}@before`);
    if (demand?.kind !== 'delay') throw new Error('it is not an amount of time');
    const random = randomStream(seed, `start delay of ${name}`);
    return () => drawAmount(demand.ms, random);
  } catch (error) {
    const detail = `tachograph.io/start-delay "${text}": ${(error as Error).message}`;
    throw manifestError(at, detail, error);
  }
}
