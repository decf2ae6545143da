import { expect, test } from 'vitest';
import { TachographError } from '#kernel/core/errors.ts';
import { runCommandLine } from './command-line.ts';
import type { Verb, VerbContext } from './verb.ts';
import { VERBS } from './verbs.ts';

const verb = (name: string, run: Verb['run']): Verb => ({
  name,
  summary: `does ${name}`,
  options: {
    data: { kind: 'text', value: 'DIR', about: 'a folder' },
    keep: { kind: 'flag', about: 'keeps it' },
    part: { kind: 'list', value: 'NAME', about: 'a part' },
  },
  operands: { text: '[FILE]', max: 1 },
  run,
});

async function call(
  args: readonly string[],
  run: Verb['run'] = async () => 0,
  over: {
    readonly env?: Record<string, string>;
    readonly aborted?: boolean;
    readonly verbs?: typeof VERBS;
  } = {},
) {
  const written = { out: '', err: '' };
  const controller = new AbortController();
  if (over.aborted === true) controller.abort(new Error('Interrupted'));
  const surroundings = {
    root: '/repository',
    env: over.env ?? {},
    stdout: { write: (text: string) => (written.out += text) },
    stderr: { write: (text: string) => (written.err += text) },
    signal: controller.signal,
  };
  const verbs = over.verbs ?? { make: async () => verb('make', run) };
  const code = await runCommandLine(args, surroundings, verbs);
  return { code, ...written };
}

test('runCommandLine gives the verb its options, operands and home, and returns its code', async () => {
  let seen: VerbContext | undefined;
  const { code } = await call(['make', '--data', 'x', 'file', '--keep'], async (context) => {
    seen = context;
    return 7;
  });
  expect(code).toBe(7);
  expect(seen?.option('data')).toBe('x');
  expect(seen?.option('keep')).toBeUndefined();
  expect(seen?.flag('keep')).toBe(true);
  expect(seen?.flag('data')).toBe(false);
  expect(seen?.operands).toEqual(['file']);
  expect(seen?.home).toBe('/repository/.tachograph');
});

test('runCommandLine gives the values of an option that may be repeated in their order', async () => {
  const lists: (readonly string[] | undefined)[] = [];
  const run: Verb['run'] = async (context) => {
    lists.push(context.list('part'));
    return 0;
  };
  await call(['make', '--part', 'b', '--part=a'], run);
  await call(['make'], run);
  expect(lists).toEqual([['b', 'a'], []]);
});

test('runCommandLine takes the home from TACHOGRAPH_HOME', async () => {
  let home = '';
  const run: Verb['run'] = async (context) => {
    home = context.home;
    return 0;
  };
  await call(['make'], run, { env: { TACHOGRAPH_HOME: '/elsewhere' } });
  expect(home).toBe('/elsewhere');
});

test.each([
  [['mak'], 'there is no verb "mak"; did you mean "make"?; see "npx tachograph help"'],
  [['constructor'], 'there is no verb "constructor"; see "npx tachograph help"'],
  [['make', '--dat', 'x'], 'did you mean "--data"?; see "npx tachograph make --help"'],
  [['make', '--data'], "'--data <value>' argument missing"],
  [['make', '--keep=1'], "'--keep' does not take an argument"],
  [['make', 'a', 'b'], '"b" is one operand too many'],
  [['help', 'mak'], 'there is no verb "mak"'],
])('runCommandLine of %j exits 2 and says %s', async (args, message) => {
  const { code, out, err } = await call(args);
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(err).toContain(message);
  expect(err.trim().split('\n')).toHaveLength(1);
});

test.each([[['help']], [['--help']], [['-h']], [[]]])(
  'runCommandLine of %j lists the verbs and exits 0',
  async (args) => {
    const { code, out } = await call(args);
    expect(code).toBe(0);
    expect(out).toContain('make  does make');
  },
);

test.each([[['make', '--help']], [['help', 'make']], [['make', '-h', 'a']]])(
  'runCommandLine of %j shows usage, options and operands of the verb',
  async (args) => {
    const { code, out } = await call(args);
    expect(code).toBe(0);
    expect(out).toContain('Usage: tachograph make [FILE] [options]');
    expect(out).toMatch(/--data DIR +a folder/);
  },
);

test('runCommandLine with --json and help prints one document', async () => {
  const { out } = await call(['make', '--help', '--json']);
  expect(JSON.parse(out)).toMatchObject({ verbs: [{ name: 'make' }] });
});

test('runCommandLine prints an expected error in one line and exits 1', async () => {
  const { code, out, err } = await call(['make'], async () => {
    throw new TachographError('PORT_IN_USE', { port: 1 });
  });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toBe('tachograph: Port 1 is in use; free it, or give another one with --port\n');
});

test.each([
  [['demo', '--vehicles', '0']],
  [['demo', '--vehicles', '']],
  [['demo', '--speed', 'abc']],
  [['demo', '--seed=-1']],
  [['up', '--port', 'abc']],
  [['bench', '--only', 'nothing']],
])('runCommandLine of %j exits 2 and names the option', async (args) => {
  const { code, err } = await call(args, undefined, { verbs: VERBS });
  expect(code).toBe(2);
  expect(err).toMatch(/^tachograph: --\w+ = ".*" is not valid: .+\n$/);
});

test('runCommandLine of a configuration that is no option exits 1', async () => {
  const { code } = await call(['make'], async () => {
    throw new TachographError('CONFIG_INVALID', { name: 'PORT', value: 'x', remedy: 'use 1' });
  });
  expect(code).toBe(1);
});

test('runCommandLine of campaign without its operands exits 2', async () => {
  const { code, out, err } = await call(['campaign', 'start'], undefined, { verbs: VERBS });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('campaign start FILE');
});

test('runCommandLine prints a bug with its stack, and an interrupt without', async () => {
  const fail: Verb['run'] = async () => {
    throw new Error('a bug');
  };
  const bug = await call(['make'], fail);
  expect(bug.code).toBe(1);
  expect(bug.err).toMatch(/a bug\n +at /);
  const interrupted = await call(['make'], fail, { aborted: true });
  expect(interrupted.code).toBe(1);
  expect(interrupted.err).toBe('tachograph: stopped\n');
});

test('every verb of the table loads under its own name, with a summary for help', async () => {
  for (const [name, load] of Object.entries(VERBS)) {
    const loaded = await load();
    expect(loaded.name).toBe(name);
    expect(loaded.summary.length).toBeLessThanOrEqual(90);
    for (const { about } of Object.values(loaded.options)) expect(about).not.toBe('');
  }
});
