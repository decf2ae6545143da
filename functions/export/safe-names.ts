import { sha256Hex } from '#kernel/system/sha256.ts';

/** A name as somebody wrote it, and what tells it apart from others of the same spelling. */
interface WantedName {
  readonly text: string;
  /** Unique among the names it is compared with; letters and digits. */
  readonly suffix: string;
}

/**
 * Every name made safe and different from all others, also where case is ignored (file systems, SQL).
 *
 * A name that is safe and unlike the others stays as it is. One that had to be changed, is reserved or
 * equals another gets `~` and its suffix; `~` is never left in a cleaned name, so no name can look like
 * another one's suffixed form. The outcome depends on the names alone, not on which of them have data.
 */
function distinctNames(
  wanted: readonly WantedName[],
  clean: (text: string) => string,
  reserved: ReadonlySet<string> = new Set(),
): string[] {
  const cleaned = wanted.map(({ text }) => clean(text));
  const uses = new Map<string, number>();
  for (const name of cleaned) {
    const folded = name.toLowerCase();
    uses.set(folded, (uses.get(folded) ?? 0) + 1);
  }
  return wanted.map(({ text, suffix }, index) => {
    const name = cleaned[index] ?? '';
    const folded = name.toLowerCase();
    const keep = name === text && name !== '' && uses.get(folded) === 1 && !reserved.has(folded);
    return keep ? name : `${name}~${suffix}`;
  });
}

const MAX_BUS_CHARACTERS = 64;
const MAX_MESSAGE_CHARACTERS = 100;
const MAX_COLUMN_CHARACTERS = 128;

/** No leading dot (hidden, `..`), no separator, no control character. */
const cleanBus = (text: string): string =>
  text
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\./, '_')
    .slice(0, MAX_BUS_CHARACTERS);

/** No `-` either: the last `-` of a file's stem divides bus and message. */
const cleanMessage = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, MAX_MESSAGE_CHARACTERS);

/** Columns may hold any printable text; what is inside a file opens no path. */
const cleanColumn = (text: string): string =>
  text.replaceAll(/[\p{C}\u2028\u2029~]/gu, '_').slice(0, MAX_COLUMN_CHARACTERS);

export const TIME_COLUMN = 'time_us';

/** Bus → the first part of its files' names. */
export function busNames(buses: readonly string[]): ReadonlyMap<string, string> {
  const wanted = buses.map((text) => ({ text, suffix: sha256Hex(text).slice(0, 8) }));
  const names = distinctNames(wanted, cleanBus);
  return new Map(buses.map((bus, index) => [bus, names[index] ?? '']));
}

interface NamedMessage {
  readonly name: string;
  readonly id: number;
  readonly extended: boolean;
}

export const messageKey = (message: Omit<NamedMessage, 'name'>): string =>
  `${message.id.toString(16).toUpperCase()}${message.extended ? 'x' : ''}`;

/** Message key → the second part of its files' names, for all messages of one DBC. */
export function messageNames(messages: readonly NamedMessage[]): ReadonlyMap<string, string> {
  const wanted = messages.map((message) => ({ text: message.name, suffix: messageKey(message) }));
  const names = distinctNames(wanted, cleanMessage);
  return new Map(wanted.map(({ suffix }, index) => [suffix, names[index] ?? '']));
}

/** Names of a table's value columns, in order; `time_us` is taken. */
export const columnNames = (signals: readonly string[]): string[] =>
  distinctNames(
    signals.map((text, index) => ({ text, suffix: String(index + 1) })),
    cleanColumn,
    new Set([TIME_COLUMN]),
  );
