/**
 * The greatest value of the last while, for scale-down-delay: values in slots, kept as a descending
 * queue, so that its head is the maximum.
 *
 * Source: knative/serving pkg/autoscaler/aggregation/max/window.go and timewindow.go (98e5ef9), after
 * the ascending minima algorithm (R. Harter). A value that is followed by one as large can never be the
 * maximum again, hence it is dropped at once.
 */
export interface MaxWindow {
  /** Slots looked back on, this one included. */
  readonly slots: number;
  readonly slotMs: number;
  /** Descending values with their slots, oldest first. */
  readonly maxima: readonly { readonly slot: number; readonly value: number }[];
}

/** A delay of 5 min by 2 s: 150 slots. */
export const emptyMaxWindow = (windowMs: number, slotMs: number): MaxWindow => ({
  slots: Math.ceil(windowMs / slotMs),
  slotMs,
  maxima: [],
});

/**
 * A value in a slot that has one already replaces it only if it is larger. One from before the newest
 * slot counts as of that slot.
 */
export function recordMax(window: MaxWindow, nowMs: number, value: number): MaxWindow {
  const newest = window.maxima.at(-1)?.slot ?? -Infinity;
  const slot = Math.max(newest, Math.floor(nowMs / window.slotMs));
  const within = window.maxima.filter((known) => slot - known.slot < window.slots);
  const last = within.at(-1);
  if (last?.slot === slot && last.value >= value) return { ...window, maxima: within };
  const greater = within.filter((known) => known.value > value);
  return { ...window, maxima: [...greater, { slot, value }] };
}

/** The maximum as of the last record; 0 before the first. */
export const currentMax = ({ maxima }: MaxWindow): number => maxima[0]?.value ?? 0;
