/**
 * What all autoscaling policies have in common.
 *
 * A policy is a pure function: `(config, state, observation, now) → { state, decision }`. It has no
 * clock, draws no chance and changes nothing it was given; config, state and observation are plain data,
 * so that a run's record can be fed to it again and gives the same decisions. All times are milliseconds
 * of one time-line, whose origin does not matter, except that a whole second of it is a bucket.
 */
export interface Policy<Config, State> {
  readonly name: string;
  /** Time between two decisions, in ms. */
  periodMs(config: Config): number;
  /** Whether a request at a Service that wants zero replicas asks for a decision at once. */
  readonly pokes: boolean;
  start(config: Config, start: PolicyStart): State;
  decide(config: Config, state: State, observation: Observation, nowMs: number): Step<State>;
}

export interface PolicyStart {
  readonly nowMs: number;
  /** Replicas that are ready when the policy takes over; 0 where it is not known. */
  readonly ready: number;
}

export interface Step<State> {
  readonly state: State;
  readonly decision: Decision;
}

/**
 * What one proxy says about its last period (Knative's Stat). Requests that came through the activator
 * are counted by both proxies; "proxied" is that part of a queue-proxy's figures.
 */
export interface Stat {
  readonly atMs: number;
  /** Pushed by the activator, or scraped from a replica's queue-proxy. */
  readonly from: 'activator' | 'replica';
  /** Integral of the number of requests over the period, divided by it. */
  readonly averageConcurrency: number;
  readonly averageProxiedConcurrency: number;
  /** Requests that began within the period. */
  readonly requestCount: number;
  readonly proxiedRequestCount: number;
}

export interface ReplicaObservation {
  readonly name: string;
  /** Its process listens and it takes requests. */
  readonly ready: boolean;
  /** It is being stopped: it counts no more. */
  readonly draining: boolean;
  readonly startedMs: number;
  /** Since when it is (or last was) ready; null: it never was. */
  readonly readySinceMs: number | null;
  /** Average use over the metric window, in thousandths of a CPU; null: no sample yet. */
  readonly cpuMillis: number | null;
  readonly memoryBytes: number | null;
}

/** What a policy sees of its Service. */
export interface Observation {
  /** Since the last decision, oldest first. */
  readonly stats: readonly Stat[];
  /** Replicas that take requests. */
  readonly ready: number;
  /** What was asked for last (spec.replicas). */
  readonly replicas: number;
  readonly pods: readonly ReplicaObservation[];
  /**
   * Events that its Triggers have not finished (num_pending + num_ack_pending, the largest of its
   * consumers); null: it has no Trigger, or the broker does not answer.
   */
  readonly lag: number | null;
}

export interface Decision {
  /** Replicas to ask for from now on; null: no decision, what was asked for last stays. */
  readonly desired: number | null;
  /** What the policy wanted before bounds and the way to zero; null: it could not say. */
  readonly wanted: number | null;
  /** One sentence for people. */
  readonly reason: string;
  /** The limits that changed the outcome, by the name of their setting: `max-scale`, `max-scale-up-rate`. */
  readonly limits: readonly string[];
  /** The policy's own figures: averages over both windows, target, raw counts; null: not known. */
  readonly details: Readonly<Record<string, number | string | boolean | null>>;
  readonly panicking: boolean;
  /**
   * Whether requests go through the activator (`proxy`) or straight to replicas (`serve`); null: as it
   * is for policies that know no activator (`serve`, always).
   */
  readonly path: DataPath | null;
  /** Ask again then, if that is before the next period; null: no need. */
  readonly againAtMs: number | null;
}

export type DataPath = 'proxy' | 'serve';

/** Bounds on replicas; `max` null: none. */
export interface ScaleBounds {
  readonly min: number;
  readonly max: number | null;
}
