/** One figure of `make bench`. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the figure is held against, as text with its direction: `<= 0.7`. */
  readonly target?: string;
  readonly met?: boolean;
}
