import { nearestNames } from '#kernel/core/nearest-names.ts';
import {
  nodeAt,
  placeText,
  type LocatedNode,
  type Place,
} from '#infra/local/manifests/located-node.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { ErrorObject } from 'ajv';

/** What is wrong at one place of an experiment. */
export interface ExperimentFault {
  readonly at: Place;
  /** `load.arrivals.step`; '' the whole. */
  readonly path: string;
  readonly message: string;
}

/** EXPERIMENT_INVALID with the first fault by line, and how many more there are. */
export function experimentError(faults: readonly ExperimentFault[]): TachographError {
  const sorted = faults.toSorted((a, b) => a.at.line - b.at.line);
  const [first] = sorted;
  if (first === undefined) throw new Error('An error needs a fault');
  const { at, path, message } = first;
  const more = new Set(sorted.map((fault) => `${fault.at.line} ${fault.path}`)).size - 1;
  return new TachographError('EXPERIMENT_INVALID', {
    at: placeText(at),
    detail:
      `${path === '' ? '' : `${path}: `}${message}` +
      (more === 0 ? '' : ` (and ${more} more fault${more === 1 ? '' : 's'})`),
  });
}

/** What a schema says of a document, at the places where it stands. */
export function schemaFaults(
  root: LocatedNode,
  errors: readonly ErrorObject[],
  known: (error: ErrorObject) => readonly string[],
): readonly ExperimentFault[] {
  const withUnknown = new Set(
    errors.filter((error) => keyOf(error) !== undefined).map(({ instancePath }) => instancePath),
  );
  return errors.flatMap((error) => {
    // A misspelt name explains what is missing beside it.
    if (error.keyword === 'required' && withUnknown.has(error.instancePath)) return [];
    const tokens = pointerTokens(error.instancePath);
    // Says only that the one below it is wrong.
    if (error.keyword === 'propertyNames') return [];
    const key = keyOf(error);
    const named = key === undefined ? tokens : [...tokens, key];
    return [
      { at: placeOf(root, named), path: pathText(named), message: messageOf(error, known(error)) },
    ];
  });
}

/** The key that an error is about, where it is not the value at its path. */
function keyOf(error: ErrorObject): string | undefined {
  if (error.keyword === 'additionalProperties') {
    return (error.params as { additionalProperty: string }).additionalProperty;
  }
  return error.propertyName;
}

const pointerTokens = (pointer: string): readonly string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

export const pathText = (tokens: readonly string[]): string =>
  tokens
    .map((token, index) => (/^\d+$/.test(token) ? `[${token}]` : index === 0 ? token : `.${token}`))
    .join('');

/** Where the innermost piece stands that is there. */
export function placeOf(root: LocatedNode, tokens: readonly string[]): Place {
  let node = root;
  for (const token of tokens) {
    const child = node.kind === 'list' ? node.items[Number(token)] : nodeAt(node, token);
    if (child === undefined) break;
    node = child;
  }
  return node.at;
}

function messageOf(error: ErrorObject, known: readonly string[]): string {
  const { keyword, params } = error;
  const wrong = keyOf(error);
  if (wrong !== undefined) {
    const [near] = nearestNames(wrong, known, 1);
    const names = known.length === 0 ? '' : `; use ${known.join(', ')}`;
    return `"${wrong}" is not known here${near === undefined ? names : `; did you mean "${near}"?`}`;
  }
  if (keyword === 'required') {
    return `"${(params as { missingProperty: string }).missingProperty}" is missing`;
  }
  const value = JSON.stringify(error.data) ?? 'nothing';
  const shown = value.length > 60 ? `${value.slice(0, 60)}…` : value;
  if (keyword === 'enum') {
    return `${shown} is not one of ${(params as { allowedValues: unknown[] }).allowedValues.join(', ')}`;
  }
  if (keyword === 'const') {
    return `${shown} must be ${String((params as { allowedValue: unknown }).allowedValue)}`;
  }
  return `${shown} ${error.message ?? 'is not valid'}`;
}
