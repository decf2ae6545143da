import { unreachable } from '../core/assert.ts';
import { DISTRIBUTIONS, type KindRule } from './demand-grammar.ts';
import { MAX_CV, MAX_VALUE_FILE_BYTES, MAX_VALUES } from './demand-limits.ts';
import { cutOutside, refuse, splitAt, trimmed, type Piece } from './demand-text.ts';
import type { Amount } from './demand.ts';
import { meanOf } from './draw-amount.ts';

export type ReadFile = (path: string) => string;

const CALL = /^([A-Za-z]+)\((.*)\)$/;
const NUMBER = /^(\d+(?:\.\d+)?(?:e[+-]?\d+)?)([A-Za-z]*)$/;

/** `50ms`, `2KiB`, or a distribution such as `lognormal(mean=50ms,cv=0.5)`. */
export function readAmount(piece: Piece, rule: KindRule, readFile: ReadFile): Amount {
  const call = CALL.exec(piece.text);
  if (call === null) return { kind: 'constant', value: readQuantity(piece, rule) };
  const [, name = '', body = ''] = call;
  if (!Object.hasOwn(DISTRIBUTIONS, name)) {
    const known = Object.keys(DISTRIBUTIONS).join(', ');
    refuse(piece.column, `the distribution "${name}" is not known; use one of ${known}`);
  }
  const kind = name as keyof typeof DISTRIBUTIONS;
  const inside = { text: body, column: piece.column + name.length + 1 };
  const parameters = readParameters(inside, kind);
  const amount = buildAmount(kind, (key) => parameters.get(key) ?? inside, rule, readFile);
  const mean = meanOf(amount);
  if (mean > rule.max) {
    refuse(inside.column, `the mean is above ${rule.maxText}, the most that one demand may ask`);
  }
  return amount;
}

function buildAmount(
  kind: keyof typeof DISTRIBUTIONS,
  parameter: (name: string) => Piece,
  rule: KindRule,
  readFile: ReadFile,
): Amount {
  const quantity = (name: string): number => readQuantity(parameter(name), rule);
  switch (kind) {
    case 'uniform': {
      const [min, max] = [quantity('min'), quantity('max')];
      if (min > max) refuse(parameter('min').column, 'min is above max');
      return { kind, min, max };
    }
    case 'normal':
      return { kind, mean: quantity('mean'), sd: quantity('sd') };
    case 'exponential':
      return { kind, mean: quantity('mean') };
    case 'lognormal':
      return { kind, mean: quantity('mean'), cv: readPlain(parameter('cv'), 'cv', MAX_CV) };
    case 'empirical': {
      const file = parameter('file');
      return { kind, file: file.text, values: readValues(file, rule, readFile) };
    }
    default:
      return unreachable(kind);
  }
}

/** `name=value,…` with each name of the distribution exactly once. */
function readParameters(
  inside: Piece,
  kind: keyof typeof DISTRIBUTIONS,
): ReadonlyMap<string, Piece> {
  const names: readonly string[] = DISTRIBUTIONS[kind];
  const usage = `${kind}(${names.map((name) => `${name}=`).join(',')})`;
  const found = new Map<string, Piece>();
  for (const part of cutOutside(inside, /,/)) {
    const [key, value] = splitAt(trimmed(part), '=');
    const name = key.text.trim();
    if (value === undefined || !names.includes(name)) {
      refuse(key.column, `"${key.text}" is no parameter here; write ${usage}`);
    }
    if (found.has(name)) refuse(key.column, `${name} is given twice; write ${usage}`);
    found.set(name, trimmed(value));
  }
  const missing = names.find((name) => !found.has(name));
  if (missing !== undefined) refuse(inside.column, `${missing} is missing; write ${usage}`);
  return found;
}

/** A number with a unit, in the base unit, from 0 to the rule's maximum. */
export function readQuantity(piece: Piece, { quantity, max, maxText }: KindRule): number {
  const units = Object.keys(quantity.units).join(', ');
  const { text, column } = piece;
  const parts = NUMBER.exec(text);
  if (parts === null) refuse(column, notANumber(text, `a ${quantity.name} such as ${maxText}`));
  const [, digits = '', unit = ''] = parts;
  const scale = Object.hasOwn(quantity.units, unit) ? quantity.units[unit] : undefined;
  if (scale === undefined) {
    const said = unit === '' ? 'the unit is missing' : `the unit "${unit}" is not known here`;
    refuse(column + digits.length, `${said}; use one of ${units}`);
  }
  const value = Number(digits) * scale;
  if (!Number.isFinite(value)) refuse(column, `"${text}" is not finite; use 0 to ${maxText}`);
  if (value > max) refuse(column, `${text} is out of range; use 0 to ${maxText}`);
  return value;
}

function readPlain({ text, column }: Piece, name: string, max: number): number {
  const parts = NUMBER.exec(text);
  if (parts === null || parts[2] !== '') {
    refuse(column, notANumber(text, `a ${name} without a unit`));
  }
  const value = Number(parts[1]);
  if (!(value <= max)) refuse(column, `${name}=${text} is out of range; use 0 to ${max}`);
  return value;
}

/** Says what is wrong with it where that is plain to see. */
function notANumber(text: string, wanted: string): string {
  if (/^[+]?inf(inity)?/i.test(text)) return `"${text}" is not finite; write ${wanted}`;
  if (text.startsWith('-')) return `"${text}" is negative; write ${wanted}`;
  return `"${text}" is not a number with a unit; write ${wanted}`;
}

/** One value a line, with or without a unit (then the base unit); "#" begins a comment. */
function readValues({ text: path, column }: Piece, rule: KindRule, readFile: ReadFile): number[] {
  if (path === '') refuse(column, 'the name of the file is missing');
  let content: string;
  try {
    content = readFile(path);
  } catch (error) {
    refuse(column, `the file ${path} cannot be read: ${(error as Error).message}`);
  }
  if (content.length > MAX_VALUE_FILE_BYTES) {
    refuse(column, `the file ${path} is larger than ${MAX_VALUE_FILE_BYTES} bytes`);
  }
  const values: number[] = [];
  const base = Object.entries(rule.quantity.units).find(([, scale]) => scale === 1)?.[0] ?? '';
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    const text = line.replace(/#.*/, '').trim();
    if (text === '') continue;
    const withUnit = /[a-z]$/i.test(text) ? text : text + base;
    values.push(valueOfLine(withUnit, `${path}:${index + 1}`, column, rule));
    if (values.length > MAX_VALUES) refuse(column, `${path} has more than ${MAX_VALUES} values`);
  }
  if (values.length === 0) refuse(column, `the file ${path} has no value`);
  return values;
}

/** A fault in the file is told by its line, at the column that names the file. */
function valueOfLine(text: string, at: string, column: number, rule: KindRule): number {
  const parts = NUMBER.exec(text);
  const scale = rule.quantity.units[parts?.[2] ?? ''];
  const value = Number(parts?.[1]) * (scale ?? Number.NaN);
  if (value >= 0 && value <= rule.max) return value;
  return refuse(column, `${at} "${text}" is not a ${rule.quantity.name} of 0 to ${rule.maxText}`);
}
