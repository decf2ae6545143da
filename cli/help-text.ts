import type { Verb } from './verb.ts';

const column = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
};

/** `tachograph help`. */
export function overviewText(verbs: readonly Verb[]): string[] {
  return [
    'Usage: tachograph VERB [options]',
    '',
    ...column([
      ...verbs.map(({ name, summary }) => [name, summary] as const),
      ['help', 'shows this, or with a verb what "tachograph VERB --help" shows'],
    ]),
    '',
    'Every verb takes --help, and --json for one JSON document on stdout and nothing else there.',
    '--version names this program and its version.',
    'TACHOGRAPH_HOME says where the state of "up" is kept (default: .tachograph in the repository).',
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.',
  ];
}

/** `tachograph VERB --help`. */
export function verbText(verb: Verb): string[] {
  const operands = verb.operands === undefined ? '' : ` ${verb.operands.text}`;
  const rows = Object.entries(verb.options).map(([name, option]) => {
    const value = option.kind === 'flag' ? '' : ` ${option.value ?? 'TEXT'}`;
    return [`--${name}${value}`, option.about] as const;
  });
  return [
    `Usage: tachograph ${verb.name}${operands} [options]`,
    '',
    `  ${verb.summary}`,
    ...(verb.details === undefined ? [] : ['', ...verb.details.map((line) => `  ${line}`)]),
    '',
    ...column([
      ...rows,
      ['--json', 'one JSON document on stdout, nothing else there'],
      ['--help', 'shows this'],
    ]),
  ];
}
