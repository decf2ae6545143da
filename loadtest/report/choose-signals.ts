import type { SignalSource } from './read-signals.ts';

/** A plot of the report: signals of one kind and unit. */
export interface PlotChoice {
  readonly title: string;
  readonly signals: readonly SignalSource[];
}

/** What a person looks at first, by the names DBC files give: the first pattern that is found wins. */
const PREFERRED: readonly {
  readonly title: string;
  readonly patterns: readonly RegExp[];
  readonly max: number;
}[] = [
  { title: 'Speed', patterns: [/^(vehicle_?)?speed$/i, /^(veh|car|ego)_?(spd|speed)$/i], max: 1 },
  { title: 'Steering angle', patterns: [/^steer(ing)?(_wheel)?_?angle$/i], max: 1 },
  {
    title: 'Wheel speeds',
    patterns: [/^wheel_?(speed|spd)_?(fl|fr|rl|rr)$/i, /^(fl|fr|rl|rr)_?wheel_?(speed|spd)$/i],
    max: 4,
  },
];

/** Names of signals that vary and mean nothing to a person. */
const MACHINERY = /check_?sum|counter|crc|alive|(^|_)(cnt|chk)(_|$)/i;

export function choosePreferred(signals: readonly SignalSource[]): readonly PlotChoice[] {
  return PREFERRED.flatMap(({ title, patterns, max }) => {
    for (const pattern of patterns) {
      const found = signals.filter(({ signal }) => pattern.test(signal));
      const [best] = [...found].sort(byUsefulness);
      if (best === undefined) continue;
      // One message's signals: another message may carry the same quantity on another scale.
      const own = found.filter(
        ({ message, path }) => message === best.message && path === best.path,
      );
      return [{ title, signals: own.slice(0, max) }];
    }
    return [];
  });
}

/** One with a unit first, then by name, so that the choice is always the same. */
const byUsefulness = (a: SignalSource, b: SignalSource): number =>
  Number(b.unit !== '') - Number(a.unit !== '') ||
  `${a.message}.${a.signal}`.localeCompare(`${b.message}.${b.signal}`, 'en');

/**
 * The most varying signals, for a DBC without names of the list: those with the most different values,
 * without check sums and counters.
 */
export function chooseVarying(
  signals: readonly { readonly source: SignalSource; readonly values: Float64Array }[],
  max: number,
): readonly PlotChoice[] {
  return signals
    .filter(({ source }) => !MACHINERY.test(source.signal))
    .map(({ source, values }) => ({
      source,
      distinct: new Set(values.filter((value) => !Number.isNaN(value))).size,
    }))
    .filter(({ distinct }) => distinct > 1)
    .sort((a, b) => b.distinct - a.distinct || byUsefulness(a.source, b.source))
    .slice(0, max)
    .map(({ source }) => ({ title: `${source.message}.${source.signal}`, signals: [source] }));
}
