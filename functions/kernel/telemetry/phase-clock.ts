import { MAX_MARKS, type Phase, type PhaseMark } from '../core/phases.ts';

/**
 * Which of several phases under way at once has the moment: the more particular one. A handler that
 * publishes while it waits for the store publishes.
 */
const RANK: readonly Phase[] = [
  'burnCpu',
  'burnReady',
  'burnRest',
  'decode',
  'publish',
  'emit',
  'queue',
  'store',
];
const RANK_OF = new Map(RANK.map((phase, rank) => [phase, rank]));
const NONE = RANK.length;

/**
 * Tiles the length of a span with phases: at each moment exactly one has it, `compute` where no other is
 * under way. With `store` entered at 2 ms and left at 5 ms, a span of 7 ms has compute:0+2000
 * store:2000+3000 compute:5000+2000.
 */
export class PhaseClock {
  readonly #startMs: number;
  readonly #nowMs: () => number;
  /** By rank: stretches under way. */
  readonly #active = RANK.map(() => 0);
  readonly #marks: PhaseMark[] = [];
  /** Rank of the phase that has the moment. */
  #rank = NONE;
  /** Begin of the tile under way. */
  #fromMs: number;

  constructor(startMs: number, nowMs: () => number) {
    this.#startMs = startMs;
    this.#nowMs = nowMs;
    this.#fromMs = startMs;
  }

  enter(phase: Phase): () => void {
    const rank = RANK_OF.get(phase) ?? NONE;
    // What has no rank has no tiles either: `compute` is what is left.
    if (rank === NONE) return () => {};
    this.#count(rank, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#count(rank, -1);
    };
  }

  /** A stretch that has ended takes its time from the tile under way, or lies before the start. */
  mark(phase: Phase, fromMs: number, untilMs: number): void {
    if (fromMs < this.#startMs) {
      this.#push(phase, fromMs, Math.min(untilMs, this.#startMs));
      return;
    }
    const beginMs = Math.max(fromMs, this.#fromMs);
    const endMs = Math.min(untilMs, this.#nowMs());
    if (endMs <= beginMs) return;
    this.#push(this.#phase(), this.#fromMs, beginMs);
    this.#push(phase, beginMs, endMs);
    this.#fromMs = endMs;
  }

  /** Ends the last tile; the marks in the order of their ends. */
  end(endMs: number): readonly PhaseMark[] {
    this.#push(this.#phase(), this.#fromMs, endMs);
    this.#fromMs = endMs;
    return this.#marks;
  }

  #phase(): Phase {
    return RANK[this.#rank] ?? 'compute';
  }

  #count(rank: number, change: 1 | -1): void {
    const active = this.#active;
    active[rank] = (active[rank] ?? 0) + change;
    let now = 0;
    while (now < NONE && active[now] === 0) now += 1;
    if (now === this.#rank) return;
    const nowMs = this.#nowMs();
    this.#push(this.#phase(), this.#fromMs, nowMs);
    this.#rank = now;
    this.#fromMs = nowMs;
  }

  #push(phase: Phase, fromMs: number, untilMs: number): void {
    const fromUs = Math.round((fromMs - this.#startMs) * 1_000);
    const lengthUs = Math.round((untilMs - this.#startMs) * 1_000) - fromUs;
    if (lengthUs <= 0) return;
    const last = this.#marks.at(-1);
    // At the bound the last one grows: the length stays covered, if no longer told apart.
    if (last !== undefined && this.#marks.length >= MAX_MARKS) {
      this.#marks[MAX_MARKS - 1] = { ...last, lengthUs: fromUs + lengthUs - last.fromUs };
    } else if (last?.phase === phase && last.fromUs + last.lengthUs === fromUs) {
      this.#marks[this.#marks.length - 1] = { ...last, lengthUs: last.lengthUs + lengthUs };
    } else {
      this.#marks.push({ phase, fromUs, lengthUs });
    }
  }
}
