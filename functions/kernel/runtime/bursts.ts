import { TachographError } from '../core/errors.ts';
import type { BurstHistograms, BurstRow } from './burst-log.ts';
import type { DemandSettings, StageDemand } from './stage-demand.ts';

export const BURSTS_PATH = '/bursts';

/** The answer of `GET /bursts`. */
export interface BurstsAnswer extends DemandSettings {
  readonly instance: string;
  readonly queueLength: number;
  /** Number of the instance's newest burst. */
  readonly newest: number;
  /** Of all bursts since the process began. */
  readonly histograms: readonly BurstHistograms[];
  /** The bursts after the asked number that are still kept, ascending. */
  readonly rows: readonly BurstRow[];
}

/** What `?after=` may hold: `INSTANCE:N`, one a replica that the reader knows, joined by commas. */
const AFTER = /^([A-Za-z0-9._~-]{1,100}:\d{1,15})(,[A-Za-z0-9._~-]{1,100}:\d{1,15}){0,999}$/;

/**
 * `GET /bursts?after=INSTANCE:N`: reading takes nothing away, so that several may read. A reader says
 * up to which burst of each replica it has read, since it cannot choose which one answers it.
 */
export function burstsAnswer(demand: StageDemand, url: string): BurstsAnswer {
  const { instance, bursts, settings, queueLength } = demand;
  const [, query = ''] = url.split('?', 2);
  const after = new URLSearchParams(query).get('after');
  return {
    ...settings,
    instance,
    queueLength,
    newest: bursts.newest,
    histograms: bursts.histograms(),
    rows: bursts.after(readUpTo(after, instance)),
  };
}

function readUpTo(after: string | null, instance: string): number {
  if (after === null) return 0;
  if (!AFTER.test(after)) {
    const detail = 'after must be INSTANCE:N, several joined by commas';
    throw new TachographError('REQUEST_INVALID', { detail });
  }
  const own = after.split(',').find((entry) => entry.startsWith(`${instance}:`));
  return own === undefined ? 0 : Number(own.slice(instance.length + 1));
}
