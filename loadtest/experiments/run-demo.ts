import { openStore } from '#kernel/store/open-store.ts';
import { readLedgerFacts } from '#loadtest/ledger/read-ledger-facts.ts';
import { readEnvironment } from '#loadtest/results/environment.ts';
import { createResultFolder, markInvalid } from '#loadtest/results/result-folder.ts';
import { readScaling, readTraces } from '#loadtest/results/run-records.ts';
import { loadMaterials } from './demo-materials.ts';
import { replayOnCluster } from './replay-on-cluster.ts';
import { finishResult } from './finish-result.ts';
import type { Drive } from '#loadtest/vehicles/drive.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { SessionProgress } from '#loadtest/replay/export-tracker.ts';
import type { RunRecords } from '#loadtest/results/run-records.ts';
import type { ClusterRun } from './replay-on-cluster.ts';
import type { RunResult } from './run-result.ts';

export interface DemoOptions {
  /** The repository. */
  readonly root: string;
  /** Folder of all results. */
  readonly results: string;
  /** The kustomization to run, relative to `root`. */
  readonly overlay: string;
  readonly vehicles: number;
  readonly speed: number;
  readonly seed: number;
  readonly drivePath: string;
  readonly campaignPath: string;
  /** Keep store and streams in the result folder, also of a run that went well. */
  readonly keepStore: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: { readonly name: string; readonly architecture: string };
  readonly clock: Clock;
  /** Random bytes for the engineer's token. */
  readonly randomBytes: (length: number) => Uint8Array;
  readonly signal: AbortSignal;
  readonly onNote: (line: string) => void;
  readonly onProgress: (progress: readonly SessionProgress[]) => void;
  readonly progressEveryMs: number;
}

/** What a person is told of a log's faults: how many there are, and where the first ones stand. */
function faultLines({ faults, firstFaults }: Drive): readonly string[] {
  if (faults === 0) return [];
  const shown = firstFaults.slice(0, 5).map(({ line, reason }) => `  line ${line}: ${reason}`);
  return [`${faults} lines of the drive cannot be read and are left out`, ...shown];
}

/**
 * From an empty folder to a report: a local cluster with the pipeline, vehicles that replay a drive, the
 * account of what came out. Everything is stopped when it resolves or rejects. A run that does not end
 * leaves its folder marked INVALID with the reason, and `latest` where it was.
 */
export async function runDemo(options: DemoOptions): Promise<RunResult> {
  const { clock, signal, results } = options;
  const materials = await loadMaterials(options);
  for (const line of faultLines(materials.drive)) options.onNote(line);
  signal.throwIfAborted();
  const folder = await createResultFolder(results, 'demo', clock.nowMs());
  try {
    const run = await replayOnCluster(options, materials, folder);
    const records = {
      ...(await collectRecords(options, run)),
      ...(await readScaling(folder)),
      ...(await readTraces(folder)),
    };
    return await finishResult(folder, records, options);
  } catch (error) {
    await markInvalid(folder, `The run did not end: ${String(error)}`);
    throw error;
  }
}

async function collectRecords(
  { root, clock }: DemoOptions,
  { config, run, replayed, natsVersion, storeUrl }: ClusterRun,
): Promise<RunRecords> {
  const store = await openStore(storeUrl, clock);
  try {
    const sessions = run.vehicles;
    const windowUs = config.campaign.definition.processing.windowMs * 1000;
    const facts = await Array.fromAsync(readLedgerFacts(store, { sessions, windowUs }));
    const environment = await readEnvironment(root, natsVersion);
    return { config, run, environment, records: replayed.records, facts, bursts: [] };
  } finally {
    await store.close();
  }
}
