import { expect, test } from 'vitest';
import { createTerminal } from './terminal.ts';

function open(options: { json?: boolean; noColour?: boolean; isTTY?: boolean } = {}) {
  const { json = false, noColour = false, isTTY = false } = options;
  const written = { out: '', err: '' };
  const terminal = createTerminal(
    { isTTY, write: (text) => (written.out += text) },
    { isTTY, write: (text) => (written.err += text) },
    { json, noColour },
  );
  return { terminal, written };
}

test('Terminal prints results on stdout and notes on stderr', () => {
  const { terminal, written } = open();
  terminal.print('result');
  terminal.document({ a: 1 });
  terminal.note('note');
  expect(written).toEqual({ out: 'result\n', err: 'note\n' });
});

test('Terminal with json has the document alone on stdout', () => {
  const { terminal, written } = open({ json: true });
  terminal.print('result');
  terminal.progress('working');
  terminal.document({ a: 1 });
  expect(JSON.parse(written.out)).toEqual({ a: 1 });
  expect(written.err).toBe('working\n');
});

test('Terminal on a TTY overwrites progress and clears it before the next line', () => {
  const { terminal, written } = open({ isTTY: true });
  terminal.progress('one');
  terminal.progress('two');
  terminal.note('done');
  expect(written.err).toBe('\r\u001b[Kone\r\u001b[Ktwo\r\u001b[Kdone\n');
});

test('Terminal colours on a TTY only, and not with NO_COLOR', () => {
  expect(open({ isTTY: true }).terminal.colour('red', 'x')).toBe('\u001b[31mx\u001b[0m');
  expect(open({ isTTY: true, noColour: true }).terminal.colour('red', 'x')).toBe('x');
  expect(open().terminal.colour('red', 'x')).toBe('x');
});
