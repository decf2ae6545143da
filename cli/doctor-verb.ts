import { doctorChecks, type DoctorCheck } from './doctor-checks.ts';
import type { Terminal } from './terminal.ts';
import type { Verb } from './verb.ts';

/** `tachograph doctor`. */
export const doctorVerb: Verb = {
  name: 'doctor',
  summary: 'says what this machine has, what is missing, and the remedy',
  details: ['Changes nothing. Exit code 1 when something that is required is missing.'],
  options: {},
  async run({ root, home, env, terminal }) {
    const checks = await doctorChecks({ root, home, env });
    const ok = checks.every((check) => check.ok || !check.required);
    terminal.document({ ok, checks });
    for (const check of checks)
      for (const line of checkLines(check, terminal)) terminal.print(line);
    terminal.print(ok ? 'Everything required is there.' : 'Something required is missing.');
    return ok ? 0 : 1;
  },
};

function checkLines(check: DoctorCheck, terminal: Terminal): string[] {
  const mark = check.ok
    ? terminal.colour('green', 'ok     ')
    : check.required
      ? terminal.colour('red', 'missing')
      : terminal.colour('yellow', 'absent ');
  const lines = [`${mark} ${check.name.padEnd(14)} ${check.found}`];
  for (const detail of check.details) lines.push(`${' '.repeat(23)}${detail}`);
  if (!check.ok) lines.push(`${' '.repeat(23)}→ ${check.remedy}`);
  return lines;
}
