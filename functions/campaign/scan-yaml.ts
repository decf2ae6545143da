import { CST, Lexer } from 'yaml';

/** Levels of nesting; a campaign has five. */
export const MAX_YAML_DEPTH = 32;
/**
 * Words and signs of a text. A campaign with 10,000 signals of the longest form (22 each), as many
 * raw ids (10) and vehicles (2) has 340,000.
 */
export const MAX_YAML_TOKENS = 400_000;

export interface UnsafePlace {
  readonly offset: number;
  readonly message: string;
}

const BLANK = new Set(['space', 'newline', 'comment', 'byte-order-mark']);
/** Of no length in the text: they tell the parser where a document or a broken list ends. */
const VIRTUAL = new Set(['doc-mode', 'flow-error-end', 'scalar']);
const VALUES = new Set(['scalar', 'single-quoted-scalar', 'double-quoted-scalar']);
const REFUSED: Readonly<Record<string, string>> = {
  alias: 'anchors and aliases are not accepted; write the value out',
  anchor: 'anchors and aliases are not accepted; write the value out',
  tag: 'tags are not accepted; leave it out',
  'directive-line': 'directives are not accepted; leave it out',
};

/**
 * The first place of a text that must not reach the parser, or undefined. A small text must not
 * cost much: each alias walks the whole document, the parser recurses once a level, and every
 * error of a text that consists of errors costs a stack trace. Only splits the text into tokens,
 * which takes time in proportion to its length.
 */
export function findUnsafe(text: string): UnsafePlace | undefined {
  const nesting = new Nesting(text);
  let offset = 0;
  let tokens = 0;
  let before = '';
  let isScalar = false;
  for (const source of new Lexer().lex(text)) {
    const type: string = isScalar ? 'scalar' : (CST.tokenType(source) ?? 'error');
    if (!isScalar && VIRTUAL.has(type)) {
      isScalar = type === 'scalar';
      continue;
    }
    isScalar = false;
    if (type === 'newline') nesting.newLine();
    if (type === 'newline' && nesting.isBlock) before = type;
    if (!BLANK.has(type)) {
      const message =
        ++tokens > MAX_YAML_TOKENS
          ? `more than ${MAX_YAML_TOKENS} words and signs; leave out what is not needed`
          : (REFUSED[type] ?? nesting.enter(type, offset) ?? misplaced(before, type));
      if (message !== undefined) return { offset, message };
      before = type;
    }
    offset += source.length;
  }
  return undefined;
}

/** What cannot stand side by side in any text: `, ,` and `"a" "b"`. */
function misplaced(before: string, type: string): string | undefined {
  if (type === 'comma' && (before === 'comma' || before.startsWith('flow-'))) {
    return before.endsWith('-end') ? undefined : 'a "," without a value before it';
  }
  return VALUES.has(before) && VALUES.has(type) ? 'two values without a sign between' : undefined;
}

/** How deep a token stands: in brackets, and in blocks by their indentation. */
class Nesting {
  readonly #text: string;
  /** Columns of the blocks around, ascending. */
  readonly #blocks: number[] = [];
  #brackets = 0;
  #startsLine = true;

  constructor(text: string) {
    this.#text = text;
  }

  get isBlock(): boolean {
    return this.#brackets === 0;
  }

  newLine(): void {
    this.#startsLine = true;
  }

  /** What is wrong with the token's place, if anything is. */
  enter(type: string, offset: number): string | undefined {
    const opens = type === 'seq-item-ind' || type === 'explicit-key-ind';
    if (this.isBlock && (this.#startsLine || opens)) this.#block(offset);
    this.#startsLine = false;
    if (type === 'flow-map-start' || type === 'flow-seq-start') this.#brackets++;
    if (type === 'flow-map-end' || type === 'flow-seq-end') this.#brackets--;
    if (this.#brackets < 0) return 'a closing bracket without an opening one';
    return this.#brackets + this.#blocks.length > MAX_YAML_DEPTH
      ? `more than ${MAX_YAML_DEPTH} levels of nesting`
      : undefined;
  }

  #block(offset: number): void {
    const column = offset - (this.#text.lastIndexOf('\n', offset - 1) + 1);
    while ((this.#blocks.at(-1) ?? -1) >= column) this.#blocks.pop();
    this.#blocks.push(column);
  }
}
