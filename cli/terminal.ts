/** As much of a stream as the terminal needs. */
export interface TextStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

export type Colour = 'red' | 'green' | 'yellow' | 'bold' | 'dim';

const CODES: Readonly<Record<Colour, string>> = {
  red: '31',
  green: '32',
  yellow: '33',
  bold: '1',
  dim: '2',
};

/**
 * What a verb says: results on stdout, everything else on stderr. With `json`, stdout carries the one
 * document and nothing else. Colour only where a person looks (a TTY, and NO_COLOR not set).
 */
export interface Terminal {
  readonly json: boolean;
  /** A line of the result for people; nothing with --json. */
  print(line: string): void;
  /** The document of --json; nothing without it. */
  document(value: unknown): void;
  /** A line about what is being done, on stderr. */
  note(line: string): void;
  /** A passing state on stderr: overwrites itself on a TTY, else one line each time it is called. */
  progress(line: string): void;
  /** Colours text for stdout lines. */
  colour(colour: Colour, text: string): string;
}

export function createTerminal(
  stdout: TextStream,
  stderr: TextStream,
  options: { readonly json: boolean; readonly noColour: boolean },
): Terminal {
  const { json, noColour } = options;
  let passing = false;
  const settle = (): void => {
    if (passing) stderr.write('\r\u001b[K');
    passing = false;
  };
  return {
    json,
    print(line) {
      settle();
      if (!json) stdout.write(`${line}\n`);
    },
    document(value) {
      settle();
      if (json) stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
    },
    note(line) {
      settle();
      stderr.write(`${line}\n`);
    },
    progress(line) {
      if (stderr.isTTY !== true) {
        stderr.write(`${line}\n`);
        return;
      }
      stderr.write(`\r\u001b[K${line}`);
      passing = true;
    },
    colour: (colour, text) =>
      noColour || stdout.isTTY !== true ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`,
  };
}
