/** What decides which replica goes first. */
export interface Removable {
  readonly ready: boolean;
}

/**
 * Which replicas go when there are `excess` too many, from a list in order of age, oldest first: those
 * that are not ready before those that are, and of each the youngest first. Nobody is served by one that
 * is not ready, and the oldest is warmest.
 */
export function toRemove<T extends Removable>(replicas: readonly T[], excess: number): T[] {
  const youngestFirst = replicas.toReversed();
  return [
    ...youngestFirst.filter(({ ready }) => !ready),
    ...youngestFirst.filter(({ ready }) => ready),
  ].slice(0, Math.max(0, excess));
}
