import { ServicePath } from '#infra/local/data-path/service-path.ts';
import { randomStream } from '#kernel/core/random.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';

/** The path of the benchmark's one Service, with the activator in it. */
export const openBenchPath = (containerConcurrency: number): ServicePath =>
  new ServicePath({
    name: 'bench',
    kind: 'Service',
    containerConcurrency,
    timeoutMs: 60_000,
    clock: systemClock,
    random: randomStream(1, 'routing'),
    log: silentLog,
    onFirstRequest: () => {},
    onFirstResponse: () => {},
  });
