import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokerPath } from '#eventing/broker/broker-names.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { startEventing, type Eventing } from '#eventing/dispatch/start-eventing.ts';
import { parseTrigger, type Destination } from '#eventing/dispatch/trigger-spec.ts';
import { must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { randomStream } from '#kernel/core/random.ts';
import { brokerKey, withBrokerDelivery } from './broker-manifests.ts';
import { channelSettings } from './channel-settings.ts';
import type { ClusterOptions, ClusterStatus } from './cluster.ts';
import { takeClusterLock, type ClusterLock } from './cluster-lock.ts';
import { Gateway } from './data-path/gateway.ts';
import type { GatewayControl } from './data-path/gateway-control.ts';
import { PathSender } from './data-path/path-sender.ts';
import { ServicePath } from './data-path/service-path.ts';
import { startLocalNats, type LocalNats } from './local-nats.ts';
import {
  checkTrigger,
  type PipelineManifests,
  type PlainManifest,
  type ScaledWorkload,
} from './manifests/pipeline-manifests.ts';
import { ClusterRecorder } from './cluster-recorder.ts';
import { ClusterScaling } from './cluster-scaling.ts';
import { poolWorkload } from './cluster-workloads.ts';
import { ClusterMetrics } from './metrics/cluster-metrics.ts';
import { metricsPage } from './metrics/metrics-page.ts';
import { ObserverTriggers } from './observer-triggers.ts';
import { readPing } from './ping-manifest.ts';
import { runPingSource } from './ping-source.ts';
import { postEvent } from './post-event.ts';
import { makePrivateFolder } from './private-folder.ts';
import { openReplicas, type Replicas } from './replicas/open-replicas.ts';
import type { ProcessPool } from './replicas/process-pool.ts';
import { serviceEnvironment, type ValueSources } from './service-environment.ts';
import { startTracing } from './tracing/start-tracing.ts';
import type { ClusterTracing } from './tracing/cluster-tracing.ts';
import { serviceSink, sinkUrl, type BrokerUrl } from './sink-binding.ts';

/** A stage's start is 0.2 s; on a loaded machine with all starting at once, some seconds. */
const READY_WITHIN_MS = 30_000;
/** Longer than a stage's own limit (DRAIN_MS, 10 s), so that the stage decides where it can. */
const DRAIN_MS = 12_000;

/** The options with nothing left to find out. */
type PartsOptions = ClusterOptions & Required<Pick<ClusterOptions, 'nats' | 'clock'>>;

interface Running {
  readonly gateway: Gateway;
  readonly nats: LocalNats;
  readonly eventing: Eventing;
  readonly pool: ProcessPool;
  readonly scaling: ClusterScaling;
}

/** The parts of a local cluster, started and stopped in order. `stop` is safe at any moment. */
export class ClusterParts {
  readonly #options: PartsOptions;
  readonly #pipeline: PipelineManifests;
  readonly #sources: ValueSources;
  readonly #stopPings = new AbortController();
  #lock: ClusterLock | undefined;
  readonly #paths = new Map<string, ServicePath>();
  #gateway: Gateway | undefined;
  #nats: LocalNats | undefined;
  #eventing: Eventing | undefined;
  #replicas: Replicas | undefined;
  #recorder: ClusterRecorder | undefined;
  #scaling: ClusterScaling | undefined;
  #tracing: ClusterTracing | undefined;
  readonly #metrics = new ClusterMetrics();
  #originMs = 0;
  #pings: Promise<void>[] = [];
  #starting: Promise<void> | undefined;
  #started = false;
  #stopped: Promise<void> | undefined;

  constructor(options: PartsOptions, pipeline: PipelineManifests, sources: ValueSources) {
    this.#options = options;
    this.#pipeline = pipeline;
    this.#sources = sources;
  }

  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  running(): Running {
    return {
      gateway: must(this.#gateway, 'the gateway of a started cluster'),
      nats: must(this.#nats, 'the NATS server of a started cluster'),
      eventing: must(this.#eventing, 'the eventing of a started cluster'),
      pool: must(this.#replicas, 'the pool of a started cluster').pool,
      scaling: must(this.#scaling, 'the autoscaler of a started cluster'),
    };
  }

  #open(): { readonly gateway: Gateway; readonly eventing: Eventing } {
    return {
      gateway: must(this.#gateway, 'the gateway starts first'),
      eventing: must(this.#eventing, 'eventing starts before the stages'),
    };
  }

  /** Where each Broker takes events, by `namespace/name`, in the YAML's order. */
  brokerUrls(): Record<string, string> {
    const { ingressUrl } = must(this.#eventing, 'eventing starts first');
    const paths = this.#pipeline.brokers.map((broker) => brokerPath(brokerKey(broker)));
    return Object.fromEntries(paths.map((path) => [path, `${ingressUrl}/${path}`]));
  }

  async status(): Promise<ClusterStatus> {
    const { gateway, nats, eventing, pool, scaling } = this.running();
    const replicas = must(this.#replicas, 'the pool of a started cluster');
    return {
      gatewayUrl: gateway.url,
      natsUrl: nats.url,
      natsPid: nats.pid,
      brokers: this.brokerUrls(),
      services: pool.status(),
      scaling: scaling.status(),
      enforcement: replicas.enforcement,
      recordProblems: this.#recorder?.problems() ?? [],
      eventing: await eventing.stats(),
    };
  }

  /** ms since the cluster's start: the time of its records. */
  elapsedMs(): number {
    return this.#options.clock.monotonicMs() - this.#originMs;
  }

  #metricsText(): Promise<string> {
    const { pool, scaling, eventing } = this.running();
    const sources = {
      services: pool.status(),
      scaling: scaling.status(),
      paths: this.#paths.values(),
      eventing,
      spansDropped: this.#tracing?.dropped ?? 0,
    };
    return metricsPage(this.#metrics, sources, this.#options.clock);
  }

  get spansUrl(): string | undefined {
    return this.#tracing?.spansUrl;
  }

  applyTrigger(trigger: PlainManifest): Promise<void> {
    return this.running().eventing.applyTrigger(parseTrigger(trigger));
  }

  /** Runs one step of the start, unless a stop came first. */
  async #step<T>(what: string, begin: () => Promise<T>): Promise<T> {
    if (this.#stopped !== undefined) throw new Error('The cluster is being stopped');
    this.#options.onEvent?.({ kind: 'starting', what });
    return begin();
  }

  async #start(): Promise<void> {
    const { dataDir, recordDir, clock, log, nats: search, gatewayPort } = this.#options;
    const { services, pingSources } = this.#pipeline;
    this.#lock = await takeClusterLock(dataDir, process.pid);
    this.#originMs = clock.monotonicMs();
    await makePrivateFolder(join(dataDir, 'logs'));
    if (recordDir !== undefined) this.#recorder = new ClusterRecorder(recordDir, log);
    // First of all, and stopped last: everybody sends their spans there.
    this.#tracing = await startTracing(this.#options);
    const storeDir = join(dataDir, 'nats');
    this.#nats = await this.#step('nats-server', () =>
      startLocalNats({ search, storeDir, clock, log }),
    );
    this.#gateway = await this.#step('gateway', () =>
      Gateway.start({
        services: services.map((service) => ({ ...service, path: this.#openPath(service) })),
        port: gatewayPort ?? 0,
        clock,
        log,
        status: () => this.status(),
        metrics: () => this.#metricsText(),
        ...(this.#tracing && { tracing: this.#tracing.requests }),
        ...this.#control(),
      }),
    );
    this.#eventing = await this.#step('brokers and triggers', () => this.#startEventing());
    const { pool } = await this.#step('replicas', () => this.#openReplicas());
    await this.#step('stages', async () => {
      for (const service of services) pool.add(this.#poolWorkload(service));
      this.#scaling = this.#openScaling(pool);
      await this.#scaling.start();
    });
    const ticking = this.#options.pings === false ? [] : pingSources;
    this.#pings = ticking.map((source) => this.#startPing(source));
    this.#started = true;
  }

  #openPath({ name, kind, containerConcurrency, timeoutMs }: ScaledWorkload): ServicePath {
    const { clock, log } = this.#options;
    const path = new ServicePath({
      name,
      kind,
      containerConcurrency,
      timeoutMs,
      clock,
      originMs: this.#originMs,
      random: randomStream(1, `routing ${name}`),
      log,
      onFirstRequest: (stat) => this.#scaling?.poke(name, stat),
      onFirstResponse: (replica) => this.#replicas?.pool.firstResponse(name, replica),
    });
    this.#paths.set(name, path);
    return path;
  }

  /** For programs outside this process; none without a token. */
  #control(): { control?: GatewayControl } {
    const { controlTokenSha256: tokenSha256 } = this.#options;
    if (tokenSha256 === undefined) return {};
    const observers = new ObserverTriggers(this.#pipeline.triggers, {
      apply: (trigger) => this.applyTrigger(trigger),
      remove: (name) => this.running().eventing.removeTrigger(name),
    });
    return {
      control: {
        tokenSha256,
        addTrigger: (trigger) => observers.add(checkTrigger(trigger)),
        removeTrigger: (name) => observers.remove(name),
      },
    };
  }

  #startEventing(): Promise<Eventing> {
    const { clock, log } = this.#options;
    const { brokers, triggers } = this.#pipeline;
    const specs = triggers.map((trigger) => parseTrigger(withBrokerDelivery(trigger, brokers)));
    return startEventing({
      natsUrl: must(this.#nats, 'nats starts first').url,
      brokers: brokers.map(brokerKey),
      triggers: specs,
      resolveUri: (destination) => this.#resolve(destination),
      openSender: (destination, options) => {
        const { ref, uri = '/' } = destination;
        const path = ref?.kind === 'Service' ? this.#paths.get(ref.name) : undefined;
        if (path === undefined) return undefined;
        return new PathSender(path, uri, this.#resolve(destination), { ...options, clock });
      },
      clock,
      random: randomStream(1, 'delivery back-off'),
      log,
      ...(this.#tracing && { tracing: this.#tracing.deliveries }),
      ...channelSettings(brokers, this.#sources.configMaps),
    });
  }

  /** A Service's URL at the gateway, so that deliveries wait there for a replica; a URI as it stands. */
  #resolve(destination: Destination): string {
    const { ref, uri } = destination;
    if (ref === undefined) return must(uri, 'the URI of a destination without a reference');
    const gateway = must(this.#gateway, 'the gateway starts first');
    if (ref.kind !== 'Service') {
      const known = this.#pipeline.services.map(({ name }) => name).join(', ');
      throw new TachographError('SERVICE_UNKNOWN', { value: `${ref.kind} ${ref.name}`, known });
    }
    return `${gateway.url}/${gateway.path(ref.name).name}${uri ?? '/'}`;
  }

  readonly #brokerUrl: BrokerUrl = (key) => this.brokerUrls()[brokerPath(key)];

  async #openReplicas(): Promise<Replicas> {
    const { clock, log, onEvent } = this.#options;
    const { nodeScaler } = this.#pipeline;
    const gateway = must(this.#gateway, 'the gateway starts first');
    const recorder = this.#recorder;
    this.#replicas = await openReplicas({
      pid: process.pid,
      platform: process.platform,
      cores: availableParallelism(),
      tempDir: tmpdir(),
      clock,
      originMs: this.#originMs,
      log,
      readyWithinMs: READY_WITHIN_MS,
      drainMs: DRAIN_MS,
      beforeStop: (service, replica) => gateway.path(service).drainReplica(replica),
      onReplica: (service, replica, address) => {
        gateway.path(service).setReplica(replica, address);
        onEvent?.({ kind: address === undefined ? 'down' : 'ready', service, replica });
      },
      onRow: (row) => {
        recorder?.write('replicas', row);
        if (row.phase === 'gone') this.#tracing?.forget(row.replica);
      },
      onStart: (service, start) => {
        this.#metrics.noteStart(service, start);
        this.#tracing?.noteStart(start);
      },
      onColdStart: (row) => recorder?.write('coldStarts', row),
      ...(nodeScaler && {
        nodes: {
          count: nodeScaler.minNodes,
          cpuMillis: nodeScaler.cpuMillisPerNode,
          addNodeMs: nodeScaler.addNodeMs,
          onRow: (row) => recorder?.write('nodes', row),
        },
      }),
    });
    return this.#replicas;
  }

  #openScaling(pool: ProcessPool): ClusterScaling {
    const { root, clock, log } = this.#options;
    const { gateway, eventing } = this.#open();
    const { services, nodeScaler, triggers } = this.#pipeline;
    return new ClusterScaling({
      root,
      workloads: services,
      nodeScaler,
      path: (service) => gateway.path(service),
      pool,
      triggers: triggers.map(parseTrigger),
      stats: () => eventing.stats(),
      clock,
      originMs: this.#originMs,
      log,
      recorder: this.#recorder,
    });
  }

  #poolWorkload(workload: ScaledWorkload): ReturnType<typeof poolWorkload> {
    const { root, dataDir, env: parentEnv, programs } = this.#options;
    const sink = serviceSink(workload, this.#pipeline.sinkBindings, this.#brokerUrl);
    const env = serviceEnvironment(workload, this.#sources, sink);
    const program = (entry: string): string => programs?.get(entry) ?? entry;
    const spansUrl = this.spansUrl;
    return poolWorkload(workload, env, { root, dataDir, program, parentEnv, spansUrl, seed: 1 });
  }

  #startPing(source: PlainManifest): Promise<void> {
    const { clock, log } = this.#options;
    const url = sinkUrl(source, this.#brokerUrl);
    const send = (event: CloudEvent): Promise<void> => postEvent(url, event);
    const options = { ...readPing(source), clock, log, send };
    return runPingSource(options, this.#stopPings.signal);
  }

  /**
   * Vehicles' and engineers' faces first (nothing new comes in), then deliveries with the ingress (what
   * is under way comes to its end), then the other stages, then what they stood on.
   */
  async #stop(): Promise<void> {
    this.#stopPings.abort();
    const behindTriggers = this.#subscribers();
    const faces = this.#pipeline.services.filter(({ name }) => !behindTriggers.has(name));
    const errors: unknown[] = [];
    const step = async (end: () => Promise<unknown> | undefined): Promise<void> => {
      try {
        await end();
      } catch (error) {
        errors.push(error);
      }
    };
    // A start under way waits for its stages: without them it ends, and sees the stop at its next step.
    if (!this.#started) await step(() => this.#replicas?.pool.stopAll());
    await this.#starting?.catch(() => undefined);
    await step(() => this.#scaling?.stop());
    await step(() => this.#replicas?.pool.stop(faces.map(({ name }) => name)));
    await step(() => Promise.all(this.#pings));
    await step(() => this.#eventing?.stop());
    await step(() => this.#replicas?.stop());
    await step(() => this.#gateway?.stop());
    await step(() => Promise.all([...this.#paths.values()].map((path) => path.close())));
    await step(() => this.#nats?.stop());
    await step(() => this.#tracing?.stop());
    this.#recorder?.close();
    this.#lock?.release();
    if (errors.length > 0) throw new AggregateError(errors, 'Not everything stopped in order');
  }

  #subscribers(): Set<string> {
    const names = new Set<string>();
    for (const trigger of this.#pipeline.triggers) {
      const { subscriber } = parseTrigger(trigger);
      if (subscriber.ref?.kind === 'Service') names.add(subscriber.ref.name);
    }
    return names;
  }
}
