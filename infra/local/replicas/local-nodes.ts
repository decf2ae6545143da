import { placeReplica } from '#infra/autoscaling/placement.ts';
import type { NodeRow } from '#infra/local/cluster-records.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import type { ReplicaGroups } from './replica-groups.ts';

export interface LocalNodesOptions {
  /** There from the start. */
  readonly count: number;
  /** CPU share of each node, in thousandths of a CPU. */
  readonly cpuMillis: number;
  /** From the decision to add a node to its first replica: a machine has to boot. */
  readonly addNodeMs: number;
  readonly clock: Clock;
  /** Monotonic time of the cluster's start. */
  readonly originMs: number;
  readonly log: Log;
  readonly groups?: ReplicaGroups;
  readonly onRow?: (row: NodeRow) => void;
}

export interface NodeView {
  readonly name: string;
  readonly available: boolean;
  /** CPU used ÷ CPU share since the last look; null: nothing was measured since. */
  readonly utilisation: number | null;
}

interface Node {
  readonly name: string;
  phase: 'adding' | 'available' | 'removed';
  /** CPU requested by each replica on it. */
  readonly replicas: Map<string, number>;
  /** Ends the wait for it. */
  readonly removed: AbortController;
  cpuMs: number;
  seen: { cpuMs: number; atMs: number };
}

interface Waiter {
  readonly replica: string;
  readonly requestMillis: number;
  readonly admit: (node: string) => void;
}

export const MAX_NODES = 64;

/**
 * The nodes of the local cluster: shares of this machine that hold replicas and come and go.
 *
 * A replica for which no node has room waits, and is tried again whenever a node comes or a replica
 * goes, in the order of waiting; one that needs less may pass one that needs more.
 */
export class LocalNodes {
  readonly #options: LocalNodesOptions;
  readonly #nodes: Node[] = [];
  readonly #waiters: Waiter[] = [];
  #number = 0;
  #sampledAtMs: number;
  #closed = false;
  /** A node goes: its replicas have to leave it. */
  onRemoved: (node: string) => void = () => {};

  private constructor(options: LocalNodesOptions) {
    this.#options = options;
    this.#sampledAtMs = options.clock.monotonicMs();
  }

  static async open(options: LocalNodesOptions): Promise<LocalNodes> {
    const nodes = new LocalNodes(options);
    for (let index = 0; index < options.count; index++) await nodes.#makeAvailable(nodes.#create());
    return nodes;
  }

  /** Asks for so many nodes, those that are being added included. Again with the same number: nothing. */
  setNodes(count: number): void {
    if (this.#closed) return;
    const wanted = Math.min(MAX_NODES, Math.max(0, Math.floor(count)));
    while (this.#nodes.filter(isWanted).length < wanted) this.#add();
    while (this.#nodes.filter(isWanted).length > wanted) {
      // One that is not there yet before one that is; of each the youngest.
      const node =
        this.#nodes.findLast(({ phase }) => phase === 'adding') ?? this.#nodes.findLast(isWanted);
      if (node === undefined) return;
      this.#remove(node);
    }
  }

  /** Those that are there or being added. `utilisation` is since the last call that began anew. */
  observe(beginsAnew = true): readonly NodeView[] {
    return this.#nodes.filter(isWanted).map((node) => {
      const available = node.phase === 'available';
      return {
        name: node.name,
        available,
        utilisation: available ? this.#used(node, beginsAnew) : null,
      };
    });
  }

  #used(node: Node, beginsAnew: boolean): number | null {
    const { seen, cpuMs } = node;
    const elapsedMs = this.#sampledAtMs - seen.atMs;
    if (elapsedMs <= 0) return null;
    if (beginsAnew) node.seen = { cpuMs, atMs: this.#sampledAtMs };
    return ((cpuMs - seen.cpuMs) / elapsedMs) * (1_000 / this.#options.cpuMillis);
  }

  /** A node with room, taken for the replica. Rejects with the signal's reason when it is aborted. */
  async acquire(replica: string, requestMillis: number, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const waiter: Waiter = { replica, requestMillis, admit: resolve };
    const leave = (): void => {
      const index = this.#waiters.indexOf(waiter);
      if (index >= 0) this.#waiters.splice(index, 1);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiters.push(waiter);
    this.#admit();
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Replicas for which no node has room. */
  get pending(): number {
    return this.#waiters.length;
  }

  /** The replica is gone. */
  async release(replica: string): Promise<void> {
    for (const node of this.#nodes) {
      if (!node.replicas.delete(replica)) continue;
      await this.#forgetIfEmpty(node);
    }
    this.#admit();
  }

  /** CPU time used on a node since this was called for it last. */
  charge(nodeName: string | null, cpuMs: number): void {
    const node = this.#nodes.find(({ name }) => name === nodeName);
    if (node !== undefined) node.cpuMs += cpuMs;
  }

  /** All that was used until now is charged. */
  sampled(): void {
    this.#sampledAtMs = this.#options.clock.monotonicMs();
  }

  /** Ends waits for nodes; no node comes any more. */
  close(): void {
    this.#closed = true;
    for (const { removed } of this.#nodes) removed.abort();
  }

  #create(): Node {
    this.#number += 1;
    const node: Node = {
      name: `node-${this.#number}`,
      phase: 'adding',
      replicas: new Map(),
      removed: new AbortController(),
      cpuMs: 0,
      seen: { cpuMs: 0, atMs: this.#options.clock.monotonicMs() },
    };
    this.#nodes.push(node);
    return node;
  }

  #add(): void {
    const { clock, log, addNodeMs } = this.#options;
    const node = this.#create();
    this.#note(node);
    const { signal } = node.removed;
    clock
      .sleep(addNodeMs, signal)
      .then(() => this.#makeAvailable(node))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        log.error('a node could not be added', { node: node.name, why: String(error) });
        this.#remove(node);
      });
  }

  async #makeAvailable(node: Node): Promise<void> {
    const { groups, cpuMillis, clock } = this.#options;
    await groups?.addNode(node.name, cpuMillis);
    if (node.phase === 'removed') {
      await groups?.removeNode(node.name);
      return;
    }
    node.phase = 'available';
    node.seen = { cpuMs: 0, atMs: clock.monotonicMs() };
    this.#note(node);
    this.#admit();
  }

  #remove(node: Node): void {
    const wasAvailable = node.phase === 'available';
    node.phase = 'removed';
    node.removed.abort(new Error('The node was removed'));
    this.#note(node);
    if (!wasAvailable) this.#forget(node);
    else if (node.replicas.size > 0) this.onRemoved(node.name);
    else void this.#forgetIfEmpty(node);
  }

  #forget(node: Node): void {
    this.#nodes.splice(this.#nodes.indexOf(node), 1);
  }

  /** A node that was removed is gone when its last replica is. */
  async #forgetIfEmpty(node: Node): Promise<void> {
    if (node.phase !== 'removed' || node.replicas.size > 0) return;
    const { groups, log } = this.#options;
    this.#forget(node);
    try {
      await groups?.removeNode(node.name);
    } catch (error) {
      log.error('the group of a node is left', { node: node.name, why: String(error) });
    }
  }

  #note({ name, phase }: Node): void {
    const { clock, originMs, onRow } = this.#options;
    onRow?.({ atMs: clock.monotonicMs() - originMs, node: name, phase });
  }

  #admit(): void {
    const { cpuMillis } = this.#options;
    for (const waiter of this.#waiters.slice()) {
      const available = this.#nodes.filter(({ phase }) => phase === 'available');
      const choice = placeReplica(
        available.map(({ name, replicas }) => ({
          name,
          allocatableMillis: cpuMillis,
          requestedMillis: [...replicas.values()].reduce((sum, millis) => sum + millis, 0),
          withoutRequest: [...replicas.values()].filter((millis) => millis === 0).length,
        })),
        waiter.requestMillis,
      );
      const node = available.find(({ name }) => name === choice);
      if (node === undefined) continue;
      node.replicas.set(waiter.replica, waiter.requestMillis);
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      waiter.admit(node.name);
    }
  }
}

const isWanted = ({ phase }: Pick<Node, 'phase'>): boolean => phase !== 'removed';
