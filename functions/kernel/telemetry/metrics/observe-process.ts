import type { MeterBook } from './meter-book.ts';
import { METRIC, METRIC_ATTRIBUTE } from './metric-names.ts';

/** What of a process is observed: Node's `process`. */
export interface ObservedProcess {
  /** µs. */
  cpuUsage(): { readonly user: number; readonly system: number };
  readonly memoryUsage: { rss(): number };
}

/** CPU time and memory of the process, read when somebody asks. */
export function observeProcess(book: MeterBook, observed: ObservedProcess): void {
  book.observe(METRIC.cpuTime, (note) => {
    const { user, system } = observed.cpuUsage();
    note(user / 1e6, { [METRIC_ATTRIBUTE.cpuMode]: 'user' });
    note(system / 1e6, { [METRIC_ATTRIBUTE.cpuMode]: 'system' });
  });
  book.observe(METRIC.memory, (note) => note(observed.memoryUsage.rss()));
}
