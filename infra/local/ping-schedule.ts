/** Minutes of the hour at which a schedule is due, ascending. */
export interface PingSchedule {
  readonly minutes: readonly number[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Reads a cron line of which only the minutes are free: `*`, a step, or minutes with commas between,
 * then four `*`. Undefined for everything else, so that the reader can name file and line.
 *
 * A step starts anew each hour, as in cron: 45 means minutes 0 and 45, not every 45 minutes.
 */
export function parsePingSchedule(text: string): PingSchedule | undefined {
  const [minute = '', ...rest] = text.trim().split(/\s+/);
  if (rest.length !== 4 || rest.some((field) => field !== '*')) return undefined;
  const step = /^\*(?:\/(\d{1,2}))?$/.exec(minute);
  if (step !== null) {
    const every = Number(step[1] ?? 1);
    if (every < 1 || every > 59) return undefined;
    return { minutes: everyMinute.filter((candidate) => candidate % every === 0) };
  }
  const listed = minute.split(',');
  if (!listed.every((field) => /^\d{1,2}$/.test(field) && Number(field) < 60)) return undefined;
  return { minutes: [...new Set(listed.map(Number))].sort((a, b) => a - b) };
}

const everyMinute = Array.from({ length: 60 }, (_, index) => index);

/** The first due time after `nowMs` (never at it), in ms since 1970, UTC. */
export function nextPingMs(schedule: PingSchedule, nowMs: number): number {
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  for (const minute of schedule.minutes) {
    const dueMs = hourMs + minute * MINUTE_MS;
    if (dueMs > nowMs) return dueMs;
  }
  return hourMs + HOUR_MS + (schedule.minutes[0] ?? 0) * MINUTE_MS;
}
