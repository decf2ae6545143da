import type { NatsSearch } from '#eventing/broker/find-nats.ts';
import type { EventingStats } from '#eventing/dispatch/start-eventing.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { ClusterParts } from './cluster-parts.ts';
import { searchNats, type NatsSurroundings } from './local-nats.ts';
import { checkTrigger, readPipeline } from './manifests/pipeline-manifests.ts';
import type { ScalingStatus } from './autoscaling/autoscaler.ts';
import type { ServiceStatus } from './replicas/pool-workload.ts';
import type { Enforcement } from './replicas/replica-groups.ts';
import { mergeSources, type KeyedValues } from './service-environment.ts';

export interface ClusterOptions {
  /** The repository. */
  readonly root: string;
  /** The kustomization to run, relative to `root`. */
  readonly overlay: string;
  /** Streams, logs and the lock; one cluster at a time uses it. */
  readonly dataDir: string;
  /** 0 or absent: any free port. */
  readonly gatewayPort?: number;
  /** Added to the ConfigMaps and Secrets of the YAML, and stronger than those. */
  readonly configMaps: KeyedValues;
  readonly secrets: KeyedValues;
  /** This process's environment: where nats-server is looked for. Stages see a short fixed list of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Which nats-server to use; absent: the first that is found, nothing is installed. */
  readonly nats?: NatsSearch;
  readonly clock?: Clock;
  /** Manifests that lie over those of the repository, by their path there: an overlay of an experiment. */
  readonly files?: Readonly<Record<string, string>>;
  /** Existing folder for what the cluster writes down about itself (cluster-records.ts); absent: nothing. */
  readonly recordDir?: string;
  /**
   * Folder in which the spans of all processes are kept (spans.ndjson, tracing.json); absent: none are.
   * OTEL_SDK_DISABLED=true in `env` overrules it.
   */
  readonly spansDir?: string;
  /** False: the PingSources of the YAML stay silent, as in an experiment. */
  readonly pings?: boolean;
  /** The bundle of each stage's entry; an entry that is not in it runs from its source. */
  readonly programs?: ReadonlyMap<string, string>;
  /**
   * Hex SHA-256 of the engineers' token. Given: whoever has the token may add and remove Triggers of
   * his own at the gateway (TRIGGERS_PATH), to see events from another process.
   */
  readonly controlTokenSha256?: string;
  readonly log: Log;
  /** What is being done, for a person who waits. */
  readonly onEvent?: (event: ClusterEvent) => void;
  /** Aborting it stops the start, or the cluster. */
  readonly signal?: AbortSignal;
}

export type ClusterEvent =
  | { readonly kind: 'starting'; readonly what: string }
  | { readonly kind: 'ready'; readonly service: string; readonly replica: string }
  | { readonly kind: 'down'; readonly service: string; readonly replica: string }
  | { readonly kind: 'inert'; readonly fields: readonly string[] };

export interface ClusterStatus {
  readonly gatewayUrl: string;
  readonly natsUrl: string;
  readonly natsPid: number | undefined;
  readonly brokers: Readonly<Record<string, string>>;
  readonly services: readonly ServiceStatus[];
  /** By Service: how it is scaled at this moment. */
  readonly scaling: Readonly<Record<string, ScalingStatus>>;
  /** Which limits of replicas are enforced here, and by what. */
  readonly enforcement: Enforcement;
  /** What of the record is not complete; a run with any is not valid. */
  readonly recordProblems: readonly string[];
  readonly eventing: EventingStats;
}

/** The pipeline's Knative YAML at work in processes of this machine. */
export interface LocalCluster {
  /** `http://127.0.0.1:PORT`; `/<service>/…` below it goes to that Service. */
  readonly gatewayUrl: string;
  /** Where the first Broker takes events. */
  readonly brokerUrl: string;
  readonly natsUrl: string;
  /** Where this cluster's collector takes spans (OTLP/JSON); undefined: nothing is traced. */
  readonly spansUrl: string | undefined;
  serviceUrl(name: string): string;
  /** Adds a Trigger (a plain manifest), for instance of a program that wants to see events. */
  applyTrigger(trigger: object): Promise<void>;
  /** Removes it and its position in the stream. */
  removeTrigger(name: string): Promise<void>;
  status(): Promise<ClusterStatus>;
  /** ms since the cluster's start: the time-line of its records. */
  elapsedMs(): number;
  /** Ends everything, stages of the vehicles' face first, what supports them last. May be repeated. */
  stop(): Promise<void>;
}

/**
 * Starts the pipeline that an overlay describes and resolves when every replica is ready that is to be
 * there without load; a stage whose policy begins at zero starts with its first request.
 *
 * When any part does not start, or `signal` aborts, everything started so far is stopped before this
 * rejects: no process, port or lock is left behind.
 */
export async function startCluster(options: ClusterOptions): Promise<LocalCluster> {
  options.signal?.throwIfAborted();
  const pipeline = await readPipeline(options.root, options.overlay, options.files);
  options.onEvent?.({ kind: 'inert', fields: pipeline.inertFields });
  const sources = mergeSources(pipeline.configMaps, pipeline.secrets, options);
  const nats = options.nats ?? (await searchNats(thisMachine(options), { install: false }));
  const clock = options.clock ?? systemClock;
  const parts = new ClusterParts({ ...options, nats, clock }, pipeline, sources);
  const stop = (): Promise<void> => parts.stop();
  const onAbort = (): void => {
    // Whoever awaits the start or calls stop() hears of a failure; here it is only logged.
    stop().catch((error: unknown) => {
      options.log.error('stopping the cluster failed', { error: String(error) });
    });
  };
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await parts.start();
    options.signal?.throwIfAborted();
  } catch (error) {
    options.signal?.removeEventListener('abort', onAbort);
    await stop();
    // What a part says about being stopped is less than why it was stopped.
    throw options.signal?.aborted === true ? options.signal.reason : error;
  }
  return facade(parts, async () => {
    options.signal?.removeEventListener('abort', onAbort);
    await stop();
  });
}

const thisMachine = ({ root, env }: ClusterOptions): NatsSurroundings => ({
  root,
  env,
  platform: process.platform,
  architecture: process.arch,
});

function facade(parts: ClusterParts, stop: () => Promise<void>): LocalCluster {
  const { gateway, eventing, nats } = parts.running();
  return {
    gatewayUrl: gateway.url,
    brokerUrl: Object.values(parts.brokerUrls())[0] ?? eventing.ingressUrl,
    natsUrl: nats.url,
    spansUrl: parts.spansUrl,
    serviceUrl: (name) => `${gateway.url}/${gateway.path(name).name}`,
    applyTrigger: (trigger) => parts.applyTrigger(checkTrigger(trigger)),
    removeTrigger: (name) => eventing.removeTrigger(name),
    status: () => parts.status(),
    elapsedMs: () => parts.elapsedMs(),
    stop,
  };
}
