import { TachographError } from '#kernel/core/errors.ts';

import { exactNumber } from './exact-number.ts';
import type { FaultList } from './fault-list.ts';
import { KEYWORDS, STATEMENT_HEAD } from './keywords.ts';
import { MAX_NAME_CHARACTERS, MAX_STATEMENT_CHARACTERS } from './limits.ts';

const NUMBER =
  /[+-]?(?:0[xX][0-9a-fA-F]{1,16}|(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,4})?)/y;

// The keyword table is the only source; "_" and letters need no escaping. Indentation is bounded
// because an unbounded match on a line of a million blanks costs the expression engine its stack.
const STATEMENT_LINE = new RegExp(
  `^[ \\t]{0,100}(?:${[...KEYWORDS].join('|')})(?![A-Za-z0-9_])`,
  'gm',
);

const LINE_WITH_HEAD = new RegExp(`[\\r\\n][ \\t]{0,100}(?:${STATEMENT_HEAD.source})`);

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

const isWordCharacter = (code: number): boolean =>
  isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;

/** Tab, line ends, blank, no-break space. */
const isBlank = (code: number): boolean =>
  (code >= 9 && code <= 13) || code === 32 || code === 0xa0;

const isLineEnd = (code: number): boolean => code === 10 || code === 13;

const QUOTE = 34;
const BACKSLASH = 92;
const SLASH = 47;

/**
 * A position in the text of a DBC file, moved by what the grammar expects next. Blanks and comments
 * (`// …`) before each element are skipped. What does not fit throws DBC_SYNTAX with its `offset`.
 */
export class Cursor {
  readonly #text: string;
  readonly #faults: FaultList;
  #offset = 0;
  #statementStart = 0;
  /** Where the statement's text over several lines begins; -1 without one. */
  #longText = -1;

  constructor(text: string, faults: FaultList) {
    this.#text = text;
    this.#faults = faults;
  }

  /** Where the next element begins. */
  get offset(): number {
    this.#skipBlanks();
    return this.#offset;
  }

  get atEnd(): boolean {
    return this.offset >= this.#text.length;
  }

  /** Marks the start of a statement, whose length is bounded from here. */
  startStatement(): void {
    this.#statementStart = this.offset;
    this.#longText = -1;
  }

  /** The text from the statement's start to here. */
  get statementText(): string {
    return this.#text.slice(this.#statementStart, this.#offset);
  }

  /** The next word without moving, or "" when something else comes. */
  peekWord(): string {
    const start = this.offset;
    let end = start;
    while (end - start <= MAX_NAME_CHARACTERS && isWordCharacter(this.#text.charCodeAt(end))) end++;
    return this.#text.slice(start, end);
  }

  /** Letters, digits and "_". */
  word(expected: string): string {
    const word = this.peekWord();
    if (word === '' || word.length > MAX_NAME_CHARACTERS) this.fail(expected);
    this.#moveTo(this.#offset + word.length);
    return word;
  }

  /** Decimal, or hexadecimal with 0x; the nearest double. */
  number(expected: string): number {
    return Number(this.exactNumber(expected));
  }

  /** As number; a large integer that no double holds is reported, with the one that is used for it. */
  scale(expected: string): number {
    const start = this.offset;
    const exact = this.exactNumber(expected);
    const value = Number(exact);
    if (typeof exact === 'bigint' && BigInt(value) !== exact) {
      const fields = { what: expected, value: String(exact), used: String(BigInt(value)) };
      this.#faults.add(start, 'DBC_NUMBER_ROUNDED', fields);
    }
    return value;
  }

  /** As number, but a large integer is a bigint and not rounded. */
  exactNumber(expected: string): number | bigint {
    NUMBER.lastIndex = this.offset;
    const match = NUMBER.exec(this.#text);
    if (match === null) this.fail(expected);
    this.#moveTo(NUMBER.lastIndex);
    return exactNumber(match[0]);
  }

  get atNumber(): boolean {
    NUMBER.lastIndex = this.offset;
    return NUMBER.test(this.#text);
  }

  integer(expected: string, min: number, max: number): number {
    const start = this.offset;
    const value = this.number(expected);
    if (!Number.isInteger(value) || value < min || value > max) {
      this.#offset = start;
      this.fail(`${expected} from ${min} to ${max}`);
    }
    return value;
  }

  /** Digits only: in `3-5` the "-" is no sign. */
  unsigned(expected: string): number {
    const start = this.offset;
    let end = start;
    while (isDigit(this.#text.charCodeAt(end))) end++;
    if (end === start) this.fail(expected);
    this.#moveTo(end);
    return Number(this.#text.slice(start, end));
  }

  get atString(): boolean {
    return this.#text.charCodeAt(this.offset) === QUOTE;
  }

  /** In double quotes, on one line: a text without its closing quote must not take in the next lines. */
  string(expected: string): string {
    return this.#quoted(expected, false);
  }

  /** In double quotes, over line ends, which become LF. */
  text(expected: string): string {
    return this.#quoted(expected, true).replaceAll(/\r\n?/g, '\n');
  }

  /** Whether `symbol` comes next; moves over it if so. */
  skip(symbol: string): boolean {
    if (!this.#text.startsWith(symbol, this.offset)) return false;
    this.#moveTo(this.#offset + symbol.length);
    return true;
  }

  symbol(symbol: string): void {
    if (!this.skip(symbol)) this.fail(`"${symbol}"`);
  }

  /** The statement's ";". Where the next statement begins without one, that is a fault, not a loss. */
  semicolon(): void {
    if (this.skip(';')) return;
    if (!this.atEnd && !this.#atNextStatement()) this.#failSemicolon();
    this.#faults.add(this.#offset, 'DBC_SYNTAX', { expected: '";"', found: this.found });
  }

  /** The word that follows on the same line, or "" where none does or it starts a statement. */
  wordOnLine(): string {
    this.#skipBlanksOnLine();
    if (!isWordCharacter(this.#text.charCodeAt(this.#offset))) return '';
    return KEYWORDS.has(this.peekWord()) ? '' : this.word('a name');
  }

  /** Over words and commas on the same line. */
  skipListOnLine(): void {
    for (;;) {
      if (this.wordOnLine() !== '') continue;
      if (this.#text[this.#offset] !== ',') return;
      this.#offset++;
    }
  }

  /** Over anything, strings whole, to the statement's ";" or to where the next statement begins without. */
  skipToSemicolon(): void {
    while (!this.#atStop()) this.#skipAny();
    this.semicolon();
  }

  /**
   * Over elements that `element` (sticky) matches, on any number of lines, to the first one that it does
   * not match or that begins the next statement. What then is no statement either gets its own fault.
   */
  skipList(element: RegExp): void {
    while (!this.atEnd && !this.#atNextStatement()) {
      element.lastIndex = this.#offset;
      if (!element.test(this.#text)) return;
      this.#moveTo(element.lastIndex);
    }
  }

  /**
   * Over the list of upper-case words below `NS_ :`, most of which are keywords. The list ends at the
   * first keyword that more follows than a statement's name: `CM_` is a name, `CM_ "x";` is not.
   */
  skipStatementNames(): void {
    let keyword = this.#offset;
    while (!this.#atStatementHead()) {
      const word = this.peekWord();
      if (KEYWORDS.has(word)) keyword = this.#offset;
      if (!/^[A-Z_]+$/.test(word)) {
        // The names of one line are none when something else follows: the last keyword begins it.
        if (!this.atEnd) this.#offset = keyword;
        return;
      }
      this.#moveTo(this.#offset + word.length);
    }
  }

  /**
   * After a fault: to the first line behind the statement's first one that starts a statement.
   * Returns where the broken statement began.
   */
  resume(): number {
    let lineEnd = this.#statementStart;
    while (lineEnd < this.#text.length && !isLineEnd(this.#text.charCodeAt(lineEnd))) lineEnd++;
    STATEMENT_LINE.lastIndex = lineEnd;
    this.#offset = STATEMENT_LINE.exec(this.#text)?.index ?? this.#text.length;
    return this.#statementStart;
  }

  #atStop(): boolean {
    return this.atEnd || this.#text[this.#offset] === ';' || this.#atNextStatement();
  }

  /**
   * One element of any kind. `\"` counts as one, as it does inside a text: so each quote means the same
   * wherever reading began. If it did not, a file of lines such as `BU_ \"` would have every line
   * start a text that runs on to the length limit, and cost the square of its size.
   */
  #skipAny(): void {
    if (this.atString) this.#skipText();
    else if (this.#text.startsWith('\\"', this.#offset)) this.#moveTo(this.#offset + 2);
    else this.#moveTo(this.#offset + Math.max(1, this.peekWord().length));
  }

  /**
   * A text nobody reads. One over several lines that has a whole statement at the start of a line lacks
   * its closing quote; to go on behind it would leave out that statement without a word.
   */
  #skipText(): void {
    const start = this.offset;
    this.text('a text');
    if (!LINE_WITH_HEAD.test(this.#text.slice(start, this.#offset))) return;
    this.#offset = start;
    this.fail('a closing quote before the next statement');
  }

  /** `\"` is a quote inside. Character by character: a search for a quote would run over the bound. */
  #quoted(expected: string, overLines: boolean): string {
    const start = this.offset;
    if (this.#text.charCodeAt(start) !== QUOTE) this.fail(expected);
    for (let end = start + 1; end < this.#text.length; end++) {
      if (end - this.#statementStart > MAX_STATEMENT_CHARACTERS) this.#failTooLong();
      const code = this.#text.charCodeAt(end);
      if (isLineEnd(code)) {
        if (!overLines) break;
        this.#longText = start;
      }
      if (code === QUOTE && this.#text.charCodeAt(end - 1) !== BACKSLASH) {
        this.#moveTo(end + 1);
        return this.#text.slice(start + 1, end).replaceAll('\\"', '"');
      }
    }
    return this.fail(`a closing quote for ${expected}`);
  }

  /** The start of another statement: its keyword at the start of a line, or its head anywhere. */
  #atNextStatement(): boolean {
    if (!KEYWORDS.has(this.peekWord())) return false;
    return this.#atStatementHead() || this.#atLineStart();
  }

  #atStatementHead(): boolean {
    STATEMENT_HEAD.lastIndex = this.offset;
    return this.#offset > this.#statementStart && STATEMENT_HEAD.test(this.#text);
  }

  /** Of a line behind the statement's first one. */
  #atLineStart(): boolean {
    let before = this.#offset - 1;
    while (before >= this.#statementStart && !isLineEnd(this.#text.charCodeAt(before))) {
      if (!isBlank(this.#text.charCodeAt(before))) return false;
      before--;
    }
    return before >= this.#statementStart;
  }

  #skipBlanksOnLine(): void {
    for (; this.#offset < this.#text.length; this.#offset++) {
      const code = this.#text.charCodeAt(this.#offset);
      if (!isBlank(code) || isLineEnd(code)) return;
    }
  }

  #skipBlanks(): void {
    for (;;) {
      while (this.#offset < this.#text.length && isBlank(this.#text.charCodeAt(this.#offset))) {
        this.#offset++;
      }
      const isComment =
        this.#text.charCodeAt(this.#offset) === SLASH &&
        this.#text.charCodeAt(this.#offset + 1) === SLASH;
      if (!isComment) return;
      while (this.#offset < this.#text.length && !isLineEnd(this.#text.charCodeAt(this.#offset))) {
        this.#offset++;
      }
    }
  }

  #moveTo(offset: number): void {
    this.#offset = offset;
    if (offset - this.#statementStart > MAX_STATEMENT_CHARACTERS) this.#failTooLong();
  }

  /** Behind a text over several lines the likely fault is where that began. */
  #failSemicolon(): never {
    if (this.#longText === -1) this.fail('";"');
    this.#offset = this.#longText;
    this.fail('";" behind the text that begins here, whose closing quote may be missing');
  }

  #failTooLong(): never {
    throw new TachographError('DBC_STATEMENT_TOO_LONG', {
      offset: this.#statementStart,
      maxCharacters: MAX_STATEMENT_CHARACTERS,
    });
  }

  /** What stands here, for a fault's text. */
  get found(): string {
    const rest = this.#text.slice(this.#offset, this.#offset + 40);
    return rest === '' ? 'end of file' : (/^(?:\w+|[^\w\s]\S*)/.exec(rest)?.[0] ?? rest);
  }

  /** Reports what stands here instead of what is expected. */
  fail(expected: string): never {
    throw new TachographError('DBC_SYNTAX', {
      offset: this.offset,
      expected,
      found: this.found,
    });
  }
}
