import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
} from 'yaml';
import type { Node, Pair } from 'yaml';

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
  /** The node itself, or what an alias stands for. */
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
    resolve: (node) => resolve(document, node),
  };
}

const broken = (fault: CampaignFault): YamlText => ({
  root: null,
  faults: [fault],
  positionOf: () => null,
  resolve: () => null,
});

function resolve(document: Document, node: unknown): Node | null {
  if (isAlias(node)) return node.resolve(document) ?? null;
  return isMap(node) || isSeq(node) || isScalar(node) ? node : null;
}

export type { Node };
