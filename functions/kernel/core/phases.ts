/**
 * Where the time of a hop goes: a closed list. Every moment of an event's way belongs to one of them, and
 * each is measured by itself; what none of them covers is the residual, which is reported.
 *
 * A span carries its phases as marks: stretches of time relative to its start, as text
 * (`queue:-210+210 store:40+1033 compute:1073+52`, µs), since a sum alone cannot say where two phases
 * overlap or what lies between them.
 */
export const PHASES = [
  /** Intended send time → arrival at the door of the ingest. */
  'upload',
  /** In the activator, with no replica free. */
  'activator',
  /** The part of that in which the replica that then served it was starting. */
  'coldStart',
  /** In the queue-proxy of a replica, on the way to its process, and for a free burner there. */
  'queue',
  /** Batches into frames, frames into values. */
  'decode',
  /** A demand: CPU time, waiting for a CPU, and the rest of its elapsed time. */
  'burnCpu',
  'burnReady',
  'burnRest',
  /** Calls of the store under way. */
  'store',
  /** The handler's other work, and whatever else its process does meanwhile. */
  'compute',
  /** An emission before its POST: the event is made, a connection is waited for. */
  'emit',
  /** POST of an event → 202. */
  'publish',
  /** The stream has the event → its delivery begins; earlier attempts and their back-off included. */
  'stream',
  /** A batch is in; the window it belongs to is not full yet. */
  'windowWait',
] as const;

export type Phase = (typeof PHASES)[number];

/** A stretch of one phase; µs since the span's start, which it may begin before. */
export interface PhaseMark<Name extends string = Phase> {
  readonly phase: Name;
  readonly fromUs: number;
  readonly lengthUs: number;
}

/** The parts of a cold start, in their order. */
export const COLD_START_PARTS = [
  /** Before the process is begun: a node, the start delay, a start slot. */
  'wait',
  /** Spawn → the runtime has booted. */
  'boot',
  /** Modules are loaded. */
  'load',
  /** Store, telemetry and server are opened. */
  'listen',
  /** It listens → the pool has heard so. */
  'notice',
] as const;

export type ColdStartPart = (typeof COLD_START_PARTS)[number];

const MARK = /^([a-zA-Z]+):(-?\d{1,15})\+(\d{1,15})$/;
/** A session of thousands of windows makes long handlings: what is beyond is merged by the writer. */
export const MAX_MARKS = 256;

/** Marks as text, in the order given. */
export const formatMarks = (marks: readonly PhaseMark<string>[]): string =>
  marks
    .map(({ phase, fromUs, lengthUs }) => `${phase}:${Math.round(fromUs)}+${Math.round(lengthUs)}`)
    .join(' ');

/** The marks of a text; undefined where it is none, or names a phase that `names` has not. */
export function parseMarks<Name extends string>(
  text: string,
  names: readonly Name[],
): readonly PhaseMark<Name>[] | undefined {
  if (text === '') return [];
  const marks: PhaseMark<Name>[] = [];
  for (const part of text.split(' ')) {
    const [, phase, fromUs, lengthUs] = MARK.exec(part) ?? [];
    const known = names.find((name) => name === phase);
    if (known === undefined) return undefined;
    marks.push({ phase: known, fromUs: Number(fromUs), lengthUs: Number(lengthUs) });
  }
  return marks;
}
