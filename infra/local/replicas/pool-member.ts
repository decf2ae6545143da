import type { ReplicaObservation } from '#infra/autoscaling/policy.ts';
import type { ColdStartRow, ReplicaPhaseName, ReplicaUsage } from '#infra/local/cluster-records.ts';
import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import { coldStartRow, timeLine, type ColdStartCause } from './cold-start-row.ts';
import { CpuWindow } from './cpu-window.ts';
import { awaitHang } from './liveness.ts';
import type { PoolOptions, PoolWorkload, ReplicaResources, ScaleCause } from './pool-workload.ts';
import { Replica, type ChildHandle, type ReplicaStatus, type StartMarks } from './replica.ts';
import type { ReplicaGroup } from './replica-groups.ts';
import { RESTART_POLICY } from './restart-policy.ts';
import { removeSocket, socketPathOf } from './socket-path.ts';
import type { StartSlots } from './start-slots.ts';
import { readProcUsage } from './usage.ts';

export const NO_RESOURCES: ReplicaResources = {
  cpuRequestMillis: null,
  cpuLimitMillis: null,
  memoryRequestBytes: null,
  memoryLimitBytes: null,
};

const METRIC_WINDOW_MS = 15_000;
const MAX_SLOT_MS = 5_000;

/** What the pool gives each of its replicas. */
export interface MemberContext {
  readonly workload: PoolWorkload;
  readonly options: PoolOptions;
  readonly originMs: number;
  readonly slots: StartSlots;
  readonly onPhase: (member: Member, phase: ReplicaPhaseName, why: string | null) => void;
}

export interface MemberStart {
  readonly name: string;
  /** See Launch.place. */
  readonly place: number;
  readonly cause: ScaleCause;
  readonly fromZero: boolean;
}

/** One replica in the pool's care: its node, its group, its use of CPU and memory, its record. */
export class Member {
  readonly name: string;
  readonly place: number;
  readonly replica: Replica;
  readonly #context: MemberContext;
  readonly #start: MemberStart;
  readonly #window: CpuWindow;
  /** Follows the process while it takes requests. */
  #watching = new AbortController();
  #node: string | null = null;
  #group: ReplicaGroup | undefined;
  #kills = 0;
  #startDelayMs = 0;
  #startedMs: number;
  #readySinceMs: number | null = null;
  #coldStart: 'ahead' | 'unanswered' | 'written' = 'ahead';
  #socketPath: string | null = null;
  #usage: ReplicaUsage | undefined;
  /** CPU time of its processes before the one that runs now. */
  #cpuBeforeMs = 0;
  #released: Promise<void> | undefined;
  leaving = false;

  constructor(context: MemberContext, start: MemberStart) {
    const { options, slots } = context;
    this.#context = context;
    this.#start = start;
    this.name = start.name;
    this.place = start.place;
    this.#startedMs = this.#nowMs();
    this.#window = new CpuWindow(
      context.workload.metricWindowMs ?? options.metricWindowMs ?? METRIC_WINDOW_MS,
    );
    this.replica = new Replica({
      name: start.name,
      prepare: (signal) => this.#prepare(signal),
      start: (attempt) => this.#launch(attempt),
      explainEnd: () => this.#explainEnd(),
      beforeStop: async () => options.beforeStop?.(context.workload.name, start.name),
      lastLook: () => this.sample(),
      slots,
      clock: options.clock,
      log: options.log,
      policy: options.policy ?? RESTART_POLICY,
      readyWithinMs: options.readyWithinMs,
      maxSlotMs: options.maxSlotMs ?? MAX_SLOT_MS,
      onPhase: (phase, why) => this.#onPhase(phase, why),
      onAddress: (address) => this.#onAddress(address),
    });
  }

  get ready(): boolean {
    return this.replica.phase === 'ready';
  }

  get node(): string | null {
    return this.#node;
  }

  get status(): ReplicaStatus {
    const { phase, pid, address, restarts, lastEnd } = this.replica;
    return { name: this.name, phase, node: this.#node, pid, address, restarts, lastEnd };
  }

  observe(): ReplicaObservation {
    const runs = this.replica.pid !== undefined;
    return {
      name: this.name,
      ready: this.ready && !this.leaving,
      draining: this.leaving,
      startedMs: this.#startedMs,
      readySinceMs: this.#readySinceMs,
      cpuMillis: runs ? this.#window.millis() : null,
      memoryBytes: runs ? (this.#usage?.memoryBytes ?? null) : null,
    };
  }

  /** undefined before its first sample. */
  get usage(): ReplicaUsage | undefined {
    return this.#usage;
  }

  /** Ends it for good. */
  async stop(graceMs: number, why: string | null = null): Promise<void> {
    this.leaving = true;
    await this.replica.stop(graceMs, why);
    await this.#released;
  }

  /** It has answered for the first time since it became ready. */
  firstResponse(): void {
    if (this.#coldStart === 'unanswered') this.#writeColdStart(this.#nowMs());
  }

  /** Reads what its process has used; ends it when it holds more memory than it may. */
  async sample(): Promise<void> {
    const { options, workload } = this.#context;
    const { pid } = this.replica;
    if (pid === undefined) return;
    const read = await (options.readUsage ?? readProcUsage)(pid);
    // Meanwhile it may have ended, and a new one may have its place.
    if (read === undefined || this.replica.pid !== pid) return;
    const cpuMs = this.#cpuBeforeMs + read.cpuMs;
    options.nodes?.charge(this.#node, cpuMs - (this.#usage?.cpuMs ?? 0));
    this.#usage = { name: this.name, cpuMs, memoryBytes: read.memoryBytes };
    this.#window.record(this.#nowMs(), cpuMs);
    const limitBytes = workload.resources?.memoryLimitBytes ?? null;
    if (limitBytes === null || read.memoryBytes <= limitBytes) return;
    if (options.groups?.enforcement.memory === 'cgroup') return;
    options.log.warn('stage holds more memory than it may', { name: this.name, limitBytes });
    this.replica.kill('memory limit');
  }

  #nowMs(): number {
    return this.#context.options.clock.monotonicMs() - this.#context.originMs;
  }

  /** Also tried again after a failure, by when it may have a node already. */
  async #prepare(signal: AbortSignal): Promise<void> {
    const { options, workload } = this.#context;
    const { clock, nodes, groups } = options;
    const resources = workload.resources ?? NO_RESOURCES;
    if (nodes !== undefined) {
      const requestMillis = resources.cpuRequestMillis ?? 0;
      this.#node ??= await nodes.acquire(this.name, requestMillis, signal);
      this.#startedMs = this.#nowMs();
    }
    this.#group ??= await groups?.open(this.name, this.#node, resources);
    this.#startDelayMs = workload.drawStartDelayMs?.() ?? 0;
    await clock.sleep(this.#startDelayMs, signal);
  }

  #launch(attempt: number): ChildHandle {
    const { options, workload } = this.#context;
    const { name, place } = this;
    this.#socketPath = socketPathOf(options.socketFolder, name, attempt);
    const joinFiles = this.#group?.joinFiles ?? [];
    const launch = { replica: name, attempt, place, socketPath: this.#socketPath, joinFiles };
    const child = workload.start(launch);
    if (child.pid !== undefined) options.guard?.add(child.pid);
    void child.ended.then(() => {
      if (child.pid !== undefined) options.guard?.remove(child.pid);
    });
    return child;
  }

  async #explainEnd(): Promise<string | null> {
    try {
      const kills = (await this.#group?.memoryKills()) ?? 0;
      const more = kills > this.#kills;
      this.#kills = kills;
      return more ? 'memory limit' : null;
    } catch (error) {
      const { log } = this.#context.options;
      log.error('the kernel does not say why a stage ended', { why: String(error) });
      return null;
    }
  }

  #onPhase(phase: ReplicaPhaseName, why: string | null): void {
    if (phase === 'ready') {
      this.#readySinceMs = this.#nowMs();
      if (this.#coldStart === 'ahead') this.#coldStart = 'unanswered';
      this.#tellStart();
    }
    if (phase === 'backoff' || phase === 'gone') this.#afterEnd();
    if (phase === 'gone') this.#released = this.#letGo();
    this.#context.onPhase(this, phase, why);
  }

  #onAddress(address: ReplicaAddress | undefined): void {
    const { options, workload } = this.#context;
    this.#watching.abort();
    this.#watching = new AbortController();
    options.onReplica(workload.name, this.name, address);
    if (address !== undefined) void this.#watch(address, this.#watching.signal);
  }

  #afterEnd(): void {
    this.#cpuBeforeMs = this.#usage?.cpuMs ?? 0;
    if (this.#coldStart === 'unanswered') this.#writeColdStart(null);
    if (this.#socketPath !== null) removeSocket(this.#socketPath);
    this.#socketPath = null;
  }

  async #letGo(): Promise<void> {
    const { nodes, log } = this.#context.options;
    try {
      await this.#group?.remove();
    } catch (error) {
      log.error('the group of a replica is left', { name: this.name, why: String(error) });
    }
    await nodes?.release(this.name);
  }

  async #watch(address: ReplicaAddress, signal: AbortSignal): Promise<void> {
    const { probe, clock, log } = this.#context.options;
    if (probe === undefined) return;
    const failures = await awaitHang(address, probe, clock, signal);
    if (failures === 0) return;
    log.error('stage hangs and is ended', { name: this.name, failures });
    this.replica.kill(`no answer to ${failures} probes in a row`);
  }

  #tellStart(): void {
    const { options, originMs, workload } = this.#context;
    const { marks } = this.replica;
    if (options.onStart === undefined || marks === undefined) return;
    const row = this.#coldStartRow(marks, null);
    const monotonic = (ms: number | null): number | null => (ms === null ? null : ms + originMs);
    options.onStart(workload.name, {
      replica: this.name,
      // After a crash it is the earlier decision that still stands.
      decidedMs: row.decidedMs + originMs,
      spawnedMs: row.spawnedMs + originMs,
      bootedMs: monotonic(row.bootedMs),
      loadedMs: monotonic(row.loadedMs),
      listeningMs: row.listeningMs + originMs,
      readyMs: marks.readyMs,
    });
  }

  #coldStartRow(marks: StartMarks, firstResponseMs: number | null): ColdStartRow {
    const { workload, options, originMs } = this.#context;
    const cause: ColdStartCause = {
      service: workload.name,
      replica: this.name,
      fromZero: this.#start.fromZero,
      startDelayMs: this.#startDelayMs,
      ...this.#start.cause,
    };
    return coldStartRow(cause, marks, firstResponseMs, timeLine(options.clock, originMs));
  }

  #writeColdStart(firstResponseMs: number | null): void {
    const { marks } = this.replica;
    this.#coldStart = 'written';
    if (marks === undefined) return;
    this.#context.options.onColdStart?.(this.#coldStartRow(marks, firstResponseMs));
  }
}
