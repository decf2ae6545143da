import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Node, Pair } from 'yaml';
import { findUnsafe } from './scan-yaml.ts';

/** A place in a text: both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a campaign; without a place where the text as a whole is meant. */
export interface CampaignFault {
  /** `signals[3].record`, or '' for the whole. */
  readonly path: string;
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** A parsed YAML or JSON text (JSON is YAML too) that knows where each node stands. */
export interface YamlText {
  readonly root: Node | null;
  readonly faults: readonly CampaignFault[];
  positionOf(node: Node | Pair): Position | null;
  /** The value of a pair or an item as a node; null where there is none. */
  resolve(node: unknown): Node | null;
}

/** Reads the text; never throws on bad input. */
export function parseYamlText(bytes: Uint8Array): YamlText {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The decoder says only that it failed; the fault is the input's and is reported as one.
    return broken({ path: '', message: 'The text is not UTF-8', line: null, column: null });
  }
  const unsafe = findUnsafe(text);
  if (unsafe !== undefined) {
    return broken({ path: '', message: unsafe.message, ...placeOf(text, unsafe.offset) });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    lineCounter: lines,
    prettyErrors: false,
    // The parser's check compares every key with every other; readMap does it with a set.
    uniqueKeys: false,
  });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const faults = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
    path: '',
    message,
    ...at(pos[0]),
  }));
  return {
    root: document.contents,
    faults,
    positionOf: (node) => {
      const { range } = isPair(node) ? (node.key as Node) : node;
      return range === null || range === undefined ? null : at(range[0]);
    },
    resolve,
  };
}

const broken = (fault: CampaignFault): YamlText => ({
  root: null,
  faults: [fault],
  positionOf: () => null,
  resolve: () => null,
});

function placeOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

const resolve = (node: unknown): Node | null =>
  isMap(node) || isSeq(node) || isScalar(node) ? node : null;

export type { Node };
