import type { ReplicaObservation } from '#infra/autoscaling/policy.ts';
import type { ReplicaPhaseName, ReplicaUsage } from '#infra/local/cluster-records.ts';
import { must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { NodeView } from './local-nodes.ts';
import { Member } from './pool-member.ts';
import type { PoolOptions, PoolWorkload, ScaleCause, ServiceStatus } from './pool-workload.ts';
import { toRemove } from './scale-order.ts';
import { StartSlots } from './start-slots.ts';

/** Whatever a policy says: a machine has no room for more of one Service. */
export const MAX_REPLICAS = 256;

const SAMPLE_MS = 1_000;

interface Kept {
  readonly workload: PoolWorkload;
  /** Oldest first; those that are on their way out too. */
  readonly members: Member[];
  desired: number;
  /** The next replica's number. */
  next: number;
  /** Stopped for good. */
  stopped: boolean;
  lastCause: ScaleCause;
  readonly waiting: Set<PromiseWithResolvers<void>>;
}

/**
 * The processes of all Services: so many of each as were asked for last, started in turn, watched, and
 * drained when they are too many.
 */
export class ProcessPool {
  readonly #options: PoolOptions;
  readonly #originMs: number;
  readonly #slots: StartSlots;
  readonly #kept = new Map<string, Kept>();
  readonly #closing = new AbortController();
  #sampling: Promise<void> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#originMs = options.originMs ?? options.clock.monotonicMs();
    this.#slots = new StartSlots(options.startSlots);
    if (options.nodes !== undefined) options.nodes.onRemoved = (node) => this.#evict(node);
  }

  /** Takes a workload into care, without replicas. */
  add(workload: PoolWorkload): void {
    const { name } = workload;
    if (this.#kept.has(name)) throw new Error(`The pool has a workload ${name} already`);
    this.#kept.set(name, {
      workload,
      members: [],
      desired: 0,
      next: 0,
      stopped: false,
      lastCause: { decidedMs: 0, requestedMs: null },
      waiting: new Set(),
    });
    this.#sampling ??= this.#sample();
  }

  /**
   * Asks for so many replicas (0 to MAX_REPLICAS) and returns at once. Asking again for the same number
   * changes nothing. Too many: first those that are not ready go, of each kind the youngest first.
   */
  scale(service: string, replicas: number, cause: ScaleCause): void {
    const kept = this.#of(service);
    if (kept.stopped) return;
    const asked = Number.isNaN(replicas) ? kept.desired : Math.floor(replicas);
    const bounded = Math.min(MAX_REPLICAS, Math.max(0, asked));
    if (bounded !== replicas) {
      this.#options.log.warn('a number of replicas is out of range', {
        service,
        replicas,
        bounded,
      });
    }
    kept.desired = bounded;
    kept.lastCause = cause;
    this.#reconcile(kept, cause);
    this.#tell(kept);
  }

  /**
   * Resolves when as many replicas are ready as were asked for.
   *
   * Rejects with STAGE_START_FAILED when a process ends before it ever was ready, or is not ready in
   * time: at the first start that is a fault of the set-up, and waiting would not mend it. The replicas
   * stay under the pool's care until `stop`.
   */
  async untilReady(service: string): Promise<void> {
    const kept = this.#of(service);
    const waiting = Promise.withResolvers<void>();
    kept.waiting.add(waiting);
    for (const { replica } of kept.members) {
      if (replica.phase === 'backoff') this.#fail(kept, replica.lastEnd ?? 'it ended');
    }
    this.#tell(kept);
    await waiting.promise.finally(() => kept.waiting.delete(waiting));
  }

  /** All replicas of a Service that are not gone. */
  observe(service: string): readonly ReplicaObservation[] {
    return this.#of(service).members.map((member) => member.observe());
  }

  /** What each has used by its last sample; one without a sample is missing. */
  usage(service: string): readonly ReplicaUsage[] {
    return this.#of(service).members.flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
  }

  /** The data path has the first answer of a replica since it became ready. */
  firstResponse(service: string, replica: string): void {
    const member = this.#kept.get(service)?.members.find(({ name }) => name === replica);
    member?.firstResponse();
  }

  setNodes(count: number): void {
    this.#options.nodes?.setNodes(count);
  }

  /** Utilisation is since the last call that began anew. */
  observeNodes(beginsAnew = true): readonly NodeView[] {
    return this.#options.nodes?.observe(beginsAnew) ?? [];
  }

  /** Drains the named Services side by side, for good; resolves when their processes are gone. */
  async stop(names: readonly string[]): Promise<void> {
    const { drainMs } = this.#options;
    const stopping = names.flatMap((name) => {
      const kept = this.#kept.get(name);
      if (kept === undefined) return [];
      kept.stopped = true;
      kept.desired = 0;
      this.#fail(kept, 'it was stopped');
      return kept.members;
    });
    await Promise.all(stopping.map((member) => member.stop(drainMs)));
  }

  async stopAll(): Promise<void> {
    await this.stop([...this.#kept.keys()]);
    this.#closing.abort();
    await this.#sampling;
  }

  status(): ServiceStatus[] {
    return [...this.#kept].map(([name, { members }]) => ({
      name,
      replicas: members.map(({ status }) => status),
    }));
  }

  #of(service: string): Kept {
    return must(this.#kept.get(service), `the workload ${service} in the pool`);
  }

  #reconcile(kept: Kept, cause: ScaleCause): void {
    const staying = kept.members.filter(({ leaving }) => !leaving);
    const fromZero = staying.length === 0;
    for (let count = staying.length; count < kept.desired; count++) {
      this.#create(kept, cause, fromZero);
    }
    const { terminationGraceMs: graceMs = this.#options.drainMs } = kept.workload;
    for (const member of toRemove(staying, staying.length - kept.desired)) {
      void member.stop(graceMs);
    }
  }

  #create(kept: Kept, cause: ScaleCause, fromZero: boolean): void {
    const { workload, members } = kept;
    const places = new Set(members.map(({ place }) => place));
    let place = 0;
    while (places.has(place)) place += 1;
    const name = `${workload.name}-${kept.next}`;
    kept.next += 1;
    const context = {
      workload,
      options: this.#options,
      originMs: this.#originMs,
      slots: this.#slots,
      onPhase: (member: Member, phase: ReplicaPhaseName, why: string | null) =>
        this.#onPhase(kept, member, phase, why),
    };
    members.push(new Member(context, { name, place, cause, fromZero }));
  }

  #onPhase(kept: Kept, member: Member, phase: ReplicaPhaseName, why: string | null): void {
    this.#options.onRow?.({
      atMs: this.#options.clock.monotonicMs() - this.#originMs,
      service: kept.workload.name,
      replica: member.name,
      phase,
      node: member.node,
      pid: member.replica.pid ?? null,
      why,
    });
    if (phase === 'gone') kept.members.splice(kept.members.indexOf(member), 1);
    if (phase === 'backoff') this.#fail(kept, why ?? 'it ended');
    this.#tell(kept);
  }

  /** The replicas of a node that goes leave it; others take their places where there is room. */
  #evict(node: string): void {
    for (const kept of this.#kept.values()) {
      const { terminationGraceMs: graceMs = this.#options.drainMs } = kept.workload;
      for (const member of kept.members) {
        if (member.node === node && !member.leaving)
          void member.stop(graceMs, 'its node was removed');
      }
    }
    // Whoever took the node away may be about to ask for fewer replicas too.
    void Promise.resolve().then(() => {
      for (const kept of this.#kept.values()) {
        this.#reconcile(kept, { ...kept.lastCause, requestedMs: null });
      }
    });
  }

  #tell(kept: Kept): void {
    const ready = kept.members.filter((member) => member.ready && !member.leaving).length;
    if (ready < kept.desired) return;
    for (const { resolve } of kept.waiting) resolve();
  }

  #fail(kept: Kept, detail: string): void {
    const { name: service, logPath: log } = kept.workload;
    for (const { reject } of kept.waiting) {
      reject(new TachographError('STAGE_START_FAILED', { service, detail, log }));
    }
  }

  /** Once a second, what all processes use. */
  async #sample(): Promise<void> {
    const { clock, log, nodes } = this.#options;
    const { signal } = this.#closing;
    for (;;) {
      await clock.sleep(SAMPLE_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      const members = [...this.#kept.values()].flatMap((kept) => kept.members);
      const readings = await Promise.allSettled(members.map((member) => member.sample()));
      for (const reading of readings) {
        if (reading.status === 'fulfilled') continue;
        log.error('what a stage uses is not known', { why: String(reading.reason) });
      }
      nodes?.sampled();
    }
  }
}
