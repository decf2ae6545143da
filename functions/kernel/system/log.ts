/** Structured log lines: one JSON object a line. Never pass secrets or bodies. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export function jsonLog(name: string, nowMs: () => number, write: (line: string) => unknown): Log {
  const line =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      const time = new Date(nowMs()).toISOString();
      write(`${JSON.stringify({ time, level, name, message, ...fields })}\n`);
    };
  return { info: line('info'), warn: line('warn'), error: line('error') };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
