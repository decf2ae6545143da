import { isMap, isScalar, isSeq } from 'yaml';
import { isNamePart } from '#kernel/core/ids.ts';
import type { CampaignFault, Node, Position, YamlText } from './yaml-text.ts';

/** A list of faults is cut here; `count` tells how many there were. */
export const MAX_FAULTS = 100;

const NAME = '1 to 64 of letters, digits, ".", "_", "~" and "-"';

/** A map of the text with its known members, and where it stands (`upload`, `signals[3]`). */
export interface MapAt {
  readonly path: string;
  readonly members: ReadonlyMap<string, Node>;
}

export interface ItemAt {
  readonly path: string;
  readonly node: Node;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly unit?: string;
}

/**
 * Reads the values of a campaign and collects every fault on the way, so that one attempt shows
 * all. After a fault it goes on with the default, or with a stand-in that is never used.
 */
export class CampaignReader {
  readonly #text: YamlText;
  readonly #faults: CampaignFault[] = [];
  readonly #positions = new Map<string, Position>();
  #count = 0;
  /**
   * False after a fault of the text itself: what then seems to be missing may only be unreadable.
   */
  #isWhole: boolean;

  constructor(text: YamlText) {
    this.#text = text;
    this.#isWhole = text.faults.length === 0;
    for (const fault of text.faults) this.#push(fault);
  }

  /** The first MAX_FAULTS faults, in the order of the text where it is known. */
  get faults(): readonly CampaignFault[] {
    return this.#faults;
  }

  /** How many there were in all. */
  get count(): number {
    return this.#count;
  }

  /** Adds a fault at a path; its place is that of the path, or of what it is a part of. */
  fault(path: string, message: string): void {
    const position = this.#positionOf(path);
    this.#push({
      path,
      message,
      line: position?.line ?? null,
      column: position?.column ?? null,
    });
  }

  root(known: readonly string[]): MapAt {
    const { root } = this.#text;
    if (root === null && this.#isWhole) this.fault('', 'The campaign is empty');
    if (!isMap(root)) this.#isWhole = false;
    return root === null ? { path: '', members: new Map() } : this.#readMap(root, '', known);
  }

  /** A member that is a map; one that is missing is empty. */
  map(at: MapAt, key: string, known: readonly string[]): MapAt {
    const path = pathOf(at, key);
    const node = at.members.get(key);
    return node === undefined ? { path, members: new Map() } : this.#readMap(node, path, known);
  }

  mapOfItem({ node, path }: ItemAt, known: readonly string[]): MapAt {
    return this.#readMap(node, path, known);
  }

  /** The members of a map with free keys, in the order of the text. */
  entries(at: MapAt, key: string): readonly (readonly [key: string, item: ItemAt])[] {
    const path = pathOf(at, key);
    const node = at.members.get(key);
    if (node === undefined) return [];
    const { members } = this.#readMap(node, path, undefined);
    return [...members].map(([name, item]) => [name, { path: `${path}.${name}`, node: item }]);
  }

  /** The items of a list; undefined when the member is missing or no list. */
  list(at: MapAt, key: string, max: number): readonly ItemAt[] | undefined {
    const path = pathOf(at, key);
    const node = at.members.get(key);
    if (node === undefined) return undefined;
    if (!isSeq(node)) {
      this.fault(path, `${path} is ${describe(node)}; it must be a list`);
      return undefined;
    }
    if (node.items.length > max) {
      this.fault(path, `${path} has ${node.items.length} entries; at most ${max} are allowed`);
    }
    return node.items.slice(0, max).map((raw, index) => this.#item(raw, `${path}[${index}]`));
  }

  text(at: MapAt, key: string, fallback: string, maxLength: number): string {
    return this.#read(at, key, fallback, `a text of at most ${maxLength} characters`, (value) =>
      typeof value === 'string' && value.length <= maxLength ? value : undefined,
    );
  }

  /** A name as ids are made of. Without a fallback it must be there. */
  name(at: MapAt, key: string, fallback: string | undefined): string {
    if (fallback === undefined) this.#require(at, key, NAME);
    return this.#read(at, key, fallback ?? '', NAME, (value) =>
      isNamePart(value) ? value : undefined,
    );
  }

  integer(at: MapAt, key: string, fallback: number | undefined, bounds: Bounds): number {
    const { min, max, unit = '' } = bounds;
    const allowed = `a whole number from ${min} to ${max}${unit === '' ? '' : ` ${unit}`}`;
    if (fallback === undefined) this.#require(at, key, allowed);
    return this.#read(at, key, fallback ?? min, allowed, (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : undefined,
    );
  }

  number(at: MapAt, key: string, fallback: number, { min, max }: Bounds): number {
    return this.#read(at, key, fallback, `a number from ${min} to ${max}`, (value) =>
      typeof value === 'number' && value >= min && value <= max ? value : undefined,
    );
  }

  choice<T extends string>(at: MapAt, key: string, fallback: T, choices: readonly T[]): T {
    return this.#read(at, key, fallback, `one of ${choices.join(', ')}`, (value) =>
      choices.find((choice) => choice === value),
    );
  }

  /** An instant (RFC 3339) or null. */
  instant(at: MapAt, key: string): string | null {
    const allowed = 'a time with zone like 2026-11-30T22:43:01Z, or null';
    return this.#read<string | null>(at, key, null, allowed, (value) =>
      value === null || (typeof value === 'string' && isInstant(value)) ? value : undefined,
    );
  }

  /** The value of an item that is a plain value; undefined for a map or a list. */
  plain({ node }: ItemAt): unknown {
    return isScalar(node) ? node.value : undefined;
  }

  /** A fault about an item's value. */
  refuse({ node, path }: ItemAt, allowed: string): void {
    this.fault(path, `${path} is ${describe(node)}; it must be ${allowed}`);
  }

  #require(at: MapAt, key: string, allowed: string): void {
    if (at.members.has(key) || !this.#isWhole) return;
    const path = pathOf(at, key);
    this.fault(path, `${path} is missing; it must be ${allowed}`);
  }

  /**
   * A plain value that `accept` takes, or the fallback: with a fault where there is another value.
   */
  #read<T>(
    at: MapAt,
    key: string,
    fallback: T,
    allowed: string,
    accept: (value: unknown) => T | undefined,
  ): T {
    const node = at.members.get(key);
    if (node === undefined) return fallback;
    const value = isScalar(node) ? accept(node.value) : undefined;
    if (value === undefined) this.refuse({ node, path: pathOf(at, key) }, allowed);
    return value ?? fallback;
  }

  #readMap(node: Node, path: string, known: readonly string[] | undefined): MapAt {
    const members = new Map<string, Node>();
    if (!isMap(node)) {
      const what = path === '' ? 'The campaign' : path;
      this.fault(path, `${what} is ${describe(node)}; it must be a map of keys and values`);
      return { path, members };
    }
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '?';
      const position = this.#text.positionOf(pair);
      const memberPath = path === '' ? key : `${path}.${key}`;
      const value = this.#text.resolve(pair.value);
      if (members.has(key)) {
        this.#faultAt(memberPath, position, `${memberPath} is given twice; remove one of them`);
      } else if (known !== undefined && !known.includes(key)) {
        const keys = known.join(', ');
        this.#faultAt(memberPath, position, `${memberPath} is not known; known here: ${keys}`);
      } else if (value === null) {
        this.#faultAt(memberPath, position, `${memberPath} has no value`);
      } else {
        members.set(key, value);
        if (position !== null) this.#positions.set(memberPath, position);
      }
    }
    return { path, members };
  }

  #item(raw: unknown, path: string): ItemAt {
    const node = this.#text.resolve(raw) as Node;
    const position = this.#text.positionOf(node);
    if (position !== null) this.#positions.set(path, position);
    return { path, node };
  }

  /**
   * The place of `signals[3].record.everyMs`, or of the nearest part of it that stands in the text.
   */
  #positionOf(path: string): Position | null {
    let part = path;
    while (part !== '') {
      const position = this.#positions.get(part);
      if (position !== undefined) return position;
      part = part.slice(0, Math.max(part.lastIndexOf('.'), part.lastIndexOf('['), 0));
    }
    return this.#text.root === null ? null : this.#text.positionOf(this.#text.root);
  }

  #faultAt(path: string, position: Position | null, message: string): void {
    this.#push({
      path,
      message,
      line: position?.line ?? null,
      column: position?.column ?? null,
    });
  }

  #push(fault: CampaignFault): void {
    this.#count++;
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }
}

const pathOf = (at: MapAt, key: string): string => (at.path === '' ? key : `${at.path}.${key}`);

const isInstant = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text) &&
  Number.isFinite(Date.parse(text));

/** A value as a message shows it: 3, "abc", a map, a list. */
function describe(node: Node): string {
  if (isMap(node)) return 'a map';
  if (isSeq(node)) return 'a list';
  const value = isScalar(node) ? node.value : null;
  if (typeof value !== 'string') return String(value);
  return value.length > 60 ? `a text of ${value.length} characters` : JSON.stringify(value);
}
