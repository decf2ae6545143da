import { assert } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';

export interface BudgetLimits {
  /** Bytes lent at once. */
  readonly maxBytes: number;
  /** Bytes that those who wait hold already; who would exceed them is refused. */
  readonly maxWaitingBytes: number;
}

/** Bytes borrowed from a budget; to be given back in any case. */
export interface Loan {
  /** Gives back what is more than `bytes`. */
  shrinkTo(bytes: number): void;
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly heldBytes: number;
  readonly lend: (loan: Loan) => void;
}

/** Lends bytes of memory; who comes when they are out waits its turn, first come, first served. */
export class ByteBudget {
  readonly #limits: BudgetLimits;
  readonly #waiting: Waiting[] = [];
  #lent = 0;
  #waitingBytes = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get lentBytes(): number {
    return this.#lent;
  }

  /** `heldBytes`: what the borrower holds while it waits. Throws UPLOADS_BUSY when too many wait. */
  async borrow(bytes: number, heldBytes: number): Promise<Loan> {
    const { maxBytes, maxWaitingBytes } = this.#limits;
    assert(bytes <= maxBytes, `borrow ${bytes} of ${maxBytes} bytes`);
    if (this.#waiting.length === 0 && this.#lent + bytes <= maxBytes) return this.#lend(bytes);
    if (this.#waitingBytes + heldBytes > maxWaitingBytes) {
      throw new TachographError('UPLOADS_BUSY', { maxBytes, waiting: this.#waiting.length });
    }
    this.#waitingBytes += heldBytes;
    return new Promise((lend) => this.#waiting.push({ bytes, heldBytes, lend }));
  }

  #lend(bytes: number): Loan {
    this.#lent += bytes;
    let held = bytes;
    const shrinkTo = (less: number): void => {
      this.#lent -= Math.max(0, held - less);
      held = Math.min(held, less);
      this.#serve();
    };
    return { shrinkTo, release: () => shrinkTo(0) };
  }

  #serve(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || this.#lent + next.bytes > this.#limits.maxBytes) return;
      this.#waiting.shift();
      this.#waitingBytes -= next.heldBytes;
      next.lend(this.#lend(next.bytes));
    }
  }
}
