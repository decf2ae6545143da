import type { ReceiptFact, SessionFact, WindowFact } from '#kernel/facts/facts.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';

/** The campaign's rules for windows, in the units of the receipts. */
export interface WindowRules {
  readonly windowUs: number;
  readonly maxHoldUs: number;
  readonly graceMs: number;
  readonly abandonAfterMs: number;
}

export function windowRules(definition: CampaignDefinition): WindowRules {
  const { windowMs, graceMs, abandonAfterMs, resample } = definition.processing;
  return {
    windowUs: windowMs * 1_000,
    maxHoldUs: resample.maxHoldMs * 1_000,
    graceMs,
    abandonAfterMs,
  };
}

/**
 * What is known of one recording session: its receipts and the newest revision of its windows.
 *
 * Facts never change, so what has been read stays true; only what is missing must be read again. All
 * receipts up to `contiguousThrough` are here for good, later ones may still come.
 */
export class SessionState {
  readonly rules: WindowRules;
  readonly #receipts = new Map<number, ReceiptFact>();
  /** Window → sequence numbers of the receipts with time inside it. */
  readonly #ownSeqs = new Map<number, number[]>();
  readonly #windows = new Map<number, WindowFact>();
  /** Windows that hold data and are not closed. */
  readonly #open = new Set<number>();
  #contiguousThrough = -1;
  #coveredUntilUs = 0;
  #endSeq: number | undefined;
  #highestSeq = -1;
  #highestWindow = -1;
  #lastReceivedAtMs = 0;
  #session: SessionFact | undefined;

  constructor(rules: WindowRules) {
    this.rules = rules;
  }

  get receipts(): ReadonlyMap<number, ReceiptFact> {
    return this.#receipts;
  }

  get windows(): ReadonlyMap<number, WindowFact> {
    return this.#windows;
  }

  get openWindows(): ReadonlySet<number> {
    return this.#open;
  }

  /** The highest number of an unbroken run of receipts from 0; -1 without receipt 0. */
  get contiguousThrough(): number {
    return this.#contiguousThrough;
  }

  /** The vehicle's time up to which nothing is missing. */
  get coveredUntilUs(): number {
    return this.#coveredUntilUs;
  }

  get endSeq(): number | undefined {
    return this.#endSeq;
  }

  get highestSeq(): number {
    return this.#highestSeq;
  }

  get lastReceivedAtMs(): number {
    return this.#lastReceivedAtMs;
  }

  /** The newest revision of the session's closing, if it was closed. */
  get session(): SessionFact | undefined {
    return this.#session;
  }

  /** Nothing is missing up to the end mark. */
  get complete(): boolean {
    return this.#endSeq !== undefined && this.#contiguousThrough >= this.#endSeq;
  }

  /**
   * Windows a receipt has time in. An empty interval belongs to the window it starts in, an emulated
   * batch to the window of its own number.
   */
  #windowSpan(receipt: ReceiptFact): readonly [first: number, last: number] {
    if (receipt.emulated === true) return [receipt.seq, receipt.seq];
    const { windowUs } = this.rules;
    const first = Math.floor(receipt.fromUs / windowUs);
    // Worked: [1,000,000, 2,000,000) with 1 s windows is window 1 only: (2,000,000 - 1) / 1,000,000 → 1.
    const last = Math.floor((Math.max(receipt.untilUs, receipt.fromUs + 1) - 1) / windowUs);
    return [first, last];
  }

  /** Takes a receipt in; the windows whose set of batches it may change. */
  addReceipt(receipt: ReceiptFact): number[] {
    if (this.#receipts.has(receipt.seq)) return [];
    this.#receipts.set(receipt.seq, receipt);
    this.#highestSeq = Math.max(this.#highestSeq, receipt.seq);
    this.#lastReceivedAtMs = Math.max(this.#lastReceivedAtMs, receipt.receivedAtMs);
    if (receipt.end) this.#endSeq = Math.max(this.#endSeq ?? -1, receipt.seq);
    const [first, last] = this.#windowSpan(receipt);
    const touched: number[] = [];
    for (let window = first; window <= last; window++) {
      const own = this.#ownSeqs.get(window) ?? [];
      own.push(receipt.seq);
      this.#ownSeqs.set(window, own);
      if (!this.#windows.has(window)) this.#open.add(window);
      touched.push(window);
    }
    this.#highestWindow = Math.max(this.#highestWindow, last);
    this.#extendCoverage();
    if (receipt.emulated === true) return touched;
    // Later windows that read back into this batch: with 1 s windows and 500 ms hold, a batch that
    // ends at 2.0 s reaches into window 2 (2.0 s - 0.5 s < 2.0 s), one that ends at 1.5 s does not.
    const reach = Math.ceil((receipt.untilUs + this.rules.maxHoldUs) / this.rules.windowUs) - 1;
    for (let window = last + 1; window <= Math.min(reach, this.#highestWindow); window++) {
      if (this.#ownSeqs.has(window)) touched.push(window);
    }
    return touched;
  }

  #extendCoverage(): void {
    for (;;) {
      const next = this.#receipts.get(this.#contiguousThrough + 1);
      if (next === undefined) return;
      this.#contiguousThrough += 1;
      this.#coveredUntilUs = Math.max(this.#coveredUntilUs, next.untilUs);
    }
  }

  /** Takes a window's fact in; an older revision than the one known is ignored. */
  addWindow(fact: WindowFact): void {
    const known = this.#windows.get(fact.window);
    if (known !== undefined && known.revision >= fact.revision) return;
    this.#windows.set(fact.window, fact);
    this.#open.delete(fact.window);
  }

  addSession(fact: SessionFact): void {
    if ((this.#session?.revision ?? 0) < fact.revision) this.#session = fact;
  }

  /** Sequence numbers with time inside the window, ascending. */
  ownSeqs(window: number): number[] {
    return (this.#ownSeqs.get(window) ?? []).toSorted((a, b) => a - b);
  }

  /** Whether the window holds emulated batches and nothing else. */
  isEmulated(window: number): boolean {
    const own = this.#ownSeqs.get(window) ?? [];
    return own.length > 0 && own.every((seq) => this.#receipts.get(seq)?.emulated === true);
  }

  /**
   * Sequence numbers the window needs: its own and those at most maxHoldUs before its start. An emulated
   * window reads nothing back.
   */
  neededSeqs(window: number): number[] {
    if (this.isEmulated(window)) return this.ownSeqs(window);
    const { windowUs, maxHoldUs } = this.rules;
    const reachFromUs = Math.max(0, window * windowUs - maxHoldUs);
    const seqs = new Set(this.#ownSeqs.get(window));
    for (let back = Math.floor(reachFromUs / windowUs); back < window; back++) {
      for (const seq of this.#ownSeqs.get(back) ?? []) {
        if ((this.#receipts.get(seq)?.untilUs ?? 0) > reachFromUs) seqs.add(seq);
      }
    }
    return [...seqs].toSorted((a, b) => a - b);
  }
}
