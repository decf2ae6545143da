import { join } from 'node:path';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { TachographError } from '#kernel/core/errors.ts';
import { closestName } from './closest-name.ts';
import { overviewText, verbText } from './help-text.ts';
import { describeFailure } from './describe-failure.ts';
import { createTerminal, type Terminal, type TextStream } from './terminal.ts';
import type { Verb, VerbContext } from './verb.ts';
import { VERBS } from './verbs.ts';

export interface Surroundings {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly signal: AbortSignal;
}

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** Wrong usage: its message is printed with the way to the help, and the exit code is 2. */
class UsageError extends Error {}

/** Runs one command line and returns the exit code; the only place that turns errors into text. */
export async function runCommandLine(
  args: readonly string[],
  surroundings: Surroundings,
  verbs: Readonly<Record<string, () => Promise<Verb>>> = VERBS,
): Promise<number> {
  const { env, stdout, stderr } = surroundings;
  const terminal = createTerminal(stdout, stderr, {
    json: args.includes('--json'),
    noColour: (env['NO_COLOR'] ?? '') !== '',
  });
  try {
    return await dispatch(args, surroundings, terminal, verbs);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.note(`tachograph: ${error.message}`);
      return EXIT_USAGE;
    }
    if (surroundings.signal.aborted) {
      terminal.note('tachograph: stopped');
      return EXIT_FAILED;
    }
    terminal.note(`tachograph: ${describeFailure(error)}`);
    return isWrongOption(error) ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** The value of an option of the command line, not one of a file or a variable. */
const isWrongOption = (error: unknown): boolean =>
  error instanceof TachographError &&
  error.code === 'CONFIG_INVALID' &&
  String(error.fields['name']).startsWith('--');

async function dispatch(
  args: readonly string[],
  surroundings: Surroundings,
  terminal: Terminal,
  verbs: Readonly<Record<string, () => Promise<Verb>>>,
): Promise<number> {
  const [name = 'help', ...rest] = args;
  if (name === 'help' || name === '--help' || name === '-h') {
    return showHelp(
      rest.find((word) => !word.startsWith('-')),
      terminal,
      verbs,
    );
  }
  const verb = await loadVerb(name, verbs);
  const { values, positionals } = parseOptions(verb, rest);
  if (values['help'] === true) return showHelp(name, terminal, verbs);
  const most = verb.operands?.max ?? 0;
  if (positionals.length > most) {
    throw usage(verb.name, `"${positionals[most] ?? ''}" is one operand too many`);
  }
  const { root, env, signal } = surroundings;
  const context: VerbContext = {
    root,
    home: env['TACHOGRAPH_HOME'] ?? join(root, '.tachograph'),
    env,
    option: (option) => {
      const value = values[option];
      return typeof value === 'string' ? value : undefined;
    },
    list: (option) => {
      const value = values[option];
      return Array.isArray(value) ? value : [];
    },
    flag: (option) => values[option] === true,
    operands: positionals,
    signal,
    terminal,
  };
  return verb.run(context);
}

async function loadVerb(
  name: string,
  verbs: Readonly<Record<string, () => Promise<Verb>>>,
): Promise<Verb> {
  const load = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (load !== undefined) return load();
  const near = closestName(name, [...Object.keys(verbs), 'help']);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  throw new UsageError(`there is no verb "${name}"${hint}; see "npx tachograph help"`);
}

const usage = (verb: string, message: string): UsageError =>
  new UsageError(`${message}; see "npx tachograph ${verb} --help"`);

type OptionValues = Readonly<Record<string, string | boolean | string[] | undefined>>;

function parseOptions(
  verb: Verb,
  args: readonly string[],
): { values: OptionValues; positionals: string[] } {
  const options: ParseArgsOptionsConfig = {
    help: { type: 'boolean', short: 'h' },
    json: { type: 'boolean' },
  };
  for (const [option, { kind }] of Object.entries(verb.options)) {
    options[option] = { type: kind === 'flag' ? 'boolean' : 'string', multiple: kind === 'list' };
  }
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const values = parsed.values as OptionValues;
    return { values, positionals: parsed.positionals };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const wrong = /'(-[^' ]*)/.exec(error.message)?.[1] ?? '';
    const near = closestName(wrong.replace(/^-+/, ''), Object.keys(options));
    const hint = near === undefined || wrong === `--${near}` ? '' : `; did you mean "--${near}"?`;
    throw usage(verb.name, `${error.message.split('. ')[0] ?? ''}${hint}`);
  }
}

async function showHelp(
  name: string | undefined,
  terminal: Terminal,
  verbs: Readonly<Record<string, () => Promise<Verb>>>,
): Promise<number> {
  const shown =
    name === undefined || name === 'help'
      ? await Promise.all(Object.values(verbs).map((load) => load()))
      : [await loadVerb(name, verbs)];
  const lines = name === undefined ? overviewText(shown) : shown.flatMap(verbText);
  for (const line of lines) terminal.print(line);
  terminal.document({
    verbs: shown.map(({ name: verb, summary, options }) => ({ name: verb, summary, options })),
  });
  return EXIT_DONE;
}
