import { join } from 'node:path';
import { request } from 'undici';
import { brokerPath, type BrokerKey } from '#eventing/broker/broker-names.ts';
import { eventToBinary } from '#eventing/contracts/codec.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { startEventing, type Eventing } from '#eventing/dispatch/start-eventing.ts';
import { parseTrigger, type Destination } from '#eventing/dispatch/trigger-spec.ts';
import { must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { randomStream } from '#kernel/core/random.ts';
import { channelSettings } from './channel-settings.ts';
import type { ClusterOptions, ClusterStatus } from './cluster.ts';
import { takeClusterLock, type ClusterLock } from './cluster-lock.ts';
import { Gateway } from './gateway.ts';
import type { GatewayControl } from './gateway-control.ts';
import { startLocalNats, type LocalNats } from './local-nats.ts';
import {
  checkTrigger,
  type PipelineManifests,
  type PlainManifest,
} from './manifests/pipeline-manifests.ts';
import type { ServiceManifest } from './manifests/service-manifest.ts';
import { ObserverTriggers } from './observer-triggers.ts';
import { readPing } from './ping-manifest.ts';
import { runPingSource } from './ping-source.ts';
import { makePrivateFolder } from './private-folder.ts';
import { ProcessPool } from './process-pool.ts';
import { serviceEnvironment, type ValueSources } from './service-environment.ts';
import { serviceSink, sinkUrl, type BrokerUrl } from './sink-binding.ts';
import { spawnProcess, stageEnvironment } from './spawn-process.ts';

/** A stage's start is 0.2 s; on a loaded machine with all starting at once, some seconds. */
const READY_WITHIN_MS = 30_000;
/** Longer than a stage's own limit (DRAIN_MS, 10 s), so that the stage decides where it can. */
const DRAIN_MS = 12_000;
/** A restart takes less than this in all but bad cases; then the caller is told to come back. */
const HOLD_MS = 10_000;

/** The options with nothing left to find out. */
type PartsOptions = ClusterOptions & Required<Pick<ClusterOptions, 'nats' | 'clock'>>;

interface Running {
  readonly gateway: Gateway;
  readonly nats: LocalNats;
  readonly eventing: Eventing;
  readonly pool: ProcessPool;
}

/** The parts of a local cluster, started and stopped in order. `stop` is safe at any moment. */
export class ClusterParts {
  readonly #options: PartsOptions;
  readonly #pipeline: PipelineManifests;
  readonly #sources: ValueSources;
  readonly #stopPings = new AbortController();
  #lock: ClusterLock | undefined;
  #gateway: Gateway | undefined;
  #nats: LocalNats | undefined;
  #eventing: Eventing | undefined;
  #pool: ProcessPool | undefined;
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
      pool: must(this.#pool, 'the pool of a started cluster'),
    };
  }

  /** Where each Broker takes events, by `namespace/name`, in the YAML's order. */
  brokerUrls(): Record<string, string> {
    const { ingressUrl } = must(this.#eventing, 'eventing starts first');
    const paths = this.#pipeline.brokers.map((broker) => brokerPath(brokerKey(broker)));
    return Object.fromEntries(paths.map((path) => [path, `${ingressUrl}/${path}`]));
  }

  async status(): Promise<ClusterStatus> {
    const { gateway, nats, eventing, pool } = this.running();
    return {
      gatewayUrl: gateway.url,
      natsUrl: nats.url,
      natsPid: nats.pid,
      brokers: this.brokerUrls(),
      services: pool.status(),
      eventing: await eventing.stats(),
    };
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
    const { dataDir, clock, log, nats: search, gatewayPort } = this.#options;
    const { services, pingSources } = this.#pipeline;
    this.#lock = await takeClusterLock(dataDir, process.pid);
    await makePrivateFolder(join(dataDir, 'logs'));
    const storeDir = join(dataDir, 'nats');
    this.#nats = await this.#step('nats-server', () =>
      startLocalNats({ search, storeDir, clock, log }),
    );
    this.#gateway = await this.#step('gateway', () =>
      Gateway.start({
        services,
        port: gatewayPort ?? 0,
        clock,
        log,
        holdMs: HOLD_MS,
        status: () => this.status(),
        ...this.#control(),
      }),
    );
    this.#eventing = await this.#step('brokers and triggers', () => this.#startEventing());
    const pool = this.#createPool();
    this.#pool = pool;
    await this.#step('stages', async () => {
      await Promise.all(services.map((service) => pool.add(this.#poolService(service))));
    });
    this.#pings = pingSources.map((source) => this.#startPing(source));
    this.#started = true;
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
      clock,
      random: randomStream(1, 'delivery back-off'),
      log,
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
    return `${gateway.url}/${gateway.upstream(ref.name).name}${uri ?? '/'}`;
  }

  readonly #brokerUrl: BrokerUrl = (key) => this.brokerUrls()[brokerPath(key)];

  #createPool(): ProcessPool {
    const { clock, log, onEvent } = this.#options;
    const gateway = must(this.#gateway, 'the gateway starts first');
    return new ProcessPool({
      clock,
      log,
      readyWithinMs: READY_WITHIN_MS,
      drainMs: DRAIN_MS,
      onReplica: (service, replica, port) => {
        gateway.upstream(service).setReplica(replica, port);
        onEvent?.({ kind: port === undefined ? 'down' : 'ready', service, replica });
      },
    });
  }

  #poolService(service: ServiceManifest): Parameters<ProcessPool['add']>[0] {
    const { root, dataDir, env: parent } = this.#options;
    const sink = serviceSink(service, this.#pipeline.sinkBindings, this.#brokerUrl);
    const env = stageEnvironment(parent, serviceEnvironment(service, this.#sources, sink));
    const { name, replicas, entry } = service;
    const logPath = join(dataDir, 'logs', `${name}.log`);
    const start = (replica: string) => {
      // The first replica's log has the stage's own name: with one replica, as mostly, it is the one.
      const own = replica === `${name}-0` ? name : replica;
      return spawnProcess({ entry, root, env, logPath: join(dataDir, 'logs', `${own}.log`) });
    };
    return { name, replicas, start, logPath };
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
    if (!this.#started) await step(() => this.#pool?.stopAll());
    await this.#starting?.catch(() => undefined);
    await step(() => this.#pool?.stop(faces.map(({ name }) => name)));
    await step(() => Promise.all(this.#pings));
    await step(() => this.#eventing?.stop());
    await step(() => this.#pool?.stopAll());
    await step(() => this.#gateway?.stop());
    await step(() => this.#nats?.stop());
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

const brokerKey = (broker: PlainManifest): BrokerKey => ({
  namespace: broker.metadata.namespace ?? 'default',
  name: broker.metadata.name,
});

/** A Trigger without a delivery of its own has its Broker's. */
function withBrokerDelivery(
  trigger: PlainManifest,
  brokers: readonly PlainManifest[],
): PlainManifest {
  if (trigger.spec?.['delivery'] !== undefined) return trigger;
  const broker = brokers.find((candidate) => candidate.metadata.name === trigger.spec?.['broker']);
  const delivery = broker?.spec?.['delivery'];
  return delivery === undefined ? trigger : { ...trigger, spec: { ...trigger.spec, delivery } };
}

async function postEvent(url: string, event: CloudEvent): Promise<void> {
  const { headers, body } = eventToBinary(event);
  const answer = await request(url, {
    method: 'POST',
    headers,
    body,
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  });
  await answer.body.dump();
  if (answer.statusCode < 200 || answer.statusCode > 299) {
    throw new TachographError('EMIT_FAILED', {
      type: event.type,
      detail: `the sink answered ${answer.statusCode}`,
    });
  }
}
