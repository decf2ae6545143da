import type { Terminal } from './terminal.ts';

/** One option of a verb, as `--help` shows it and as the command line is parsed. */
export interface VerbOption {
  /** `text` takes a value (`--data DIR`), `list` too and may be repeated, `flag` takes none (`--keep`). */
  readonly kind: 'text' | 'list' | 'flag';
  /** What the value is, for help: DIR, NUMBER. */
  readonly value?: string;
  readonly about: string;
}

/** What every verb is given. */
export interface VerbContext {
  /** The repository. */
  readonly root: string;
  /** Where the state of `up` lives (TACHOGRAPH_HOME, else `<root>/.tachograph`). */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The value of a `text` option, or undefined where it was not given. */
  option(name: string): string | undefined;
  /** The values of a `list` option, in their order. */
  list(name: string): readonly string[];
  flag(name: string): boolean;
  /** What is neither verb nor option. */
  readonly operands: readonly string[];
  /** Aborts at Ctrl-C or SIGTERM: stop everything that was started, then return or throw. */
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
}

/** One verb of `tachograph VERB`. */
export interface Verb {
  readonly name: string;
  /** One line for `tachograph help`. */
  readonly summary: string;
  /** Further lines of `tachograph VERB --help`. */
  readonly details?: readonly string[];
  readonly options: Readonly<Record<string, VerbOption>>;
  /** How operands are shown in usage, and how many there may be. */
  readonly operands?: { readonly text: string; readonly max: number };
  /**
   * The exit code: 0 done, 1 failed. A thrown TachographError is printed without its stack and exits 1;
   * wrong usage (unknown verb, option or operand) exits 2; an abort by signal exits 130 or 143.
   */
  run(context: VerbContext): Promise<number>;
}
