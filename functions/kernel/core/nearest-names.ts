/**
 * The names most like a misspelt one, best first: for "did you mean …".
 *
 * Distance: optimal string alignment (insert, delete, replace, swap neighbours), case ignored. A
 * name counts as alike up to a third of its length: 4 of 12 letters may differ.
 */
export function nearestNames(wanted: string, names: Iterable<string>, most: number): string[] {
  const target = wanted.toLowerCase();
  const near: { name: string; distance: number }[] = [];
  for (const name of names) {
    const limit = Math.max(2, Math.ceil(name.length / 3));
    if (Math.abs(name.length - target.length) > limit) continue;
    const distance = alignmentDistance(target, name.toLowerCase());
    if (distance <= limit) near.push({ name, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return near.slice(0, most).map(({ name }) => name);
}

/** Wagner-Fischer with one row of memory for swaps: three rows in all. */
function alignmentDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2];
      if (swapped && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] as number) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] as number;
}
