import { TachographError } from '#kernel/core/errors.ts';
import {
  checkStudy,
  defaultBursts,
  MARGIN_PCT,
  QOS_CLASSES,
  spreadNeighbours,
  type QosClass,
  type Study,
  type StudyDemand,
} from './study.ts';

/** The options of the command line that make a study; undefined: the default. */
export interface StudyText {
  /** A number, or names. */
  readonly nodes?: string | undefined;
  readonly nodeCpus?: string | undefined;
  readonly neighbours?: string | undefined;
  readonly qos?: string | undefined;
  readonly demands?: string | undefined;
  readonly executions?: string | undefined;
  readonly iterations?: string | undefined;
  /** One number, or one for each demand. */
  readonly bursts?: string | undefined;
  readonly kind?: string | undefined;
  readonly rate?: string | undefined;
  readonly limit?: string | undefined;
  readonly seed?: string | undefined;
}

/** Of the smallest number whose exact permutation test can be significant: 2 / 5! = 0.017. */
export const STUDY_DEFAULTS = {
  nodes: '5',
  nodeCpus: '1',
  neighbours: '0',
  qos: QOS_CLASSES.join(','),
  demands: '50ms,200ms,1000ms',
  executions: '3',
  iterations: '2',
  kind: 'work',
  rate: 'reference',
  seed: '1',
} as const;

const MAX_SEED = 4_294_967_295;
const NODE_NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i;

/** Throws CONFIG_INVALID for an option that cannot be read, STUDY_INVALID for one out of range. */
export function parseStudy(text: StudyText): Study {
  const names = nodeNames(text.nodes ?? STUDY_DEFAULTS.nodes);
  const millicores = Math.round(
    1_000 * number('node-cpus', text.nodeCpus, STUDY_DEFAULTS.nodeCpus),
  );
  const most = integer('neighbours', text.neighbours, STUDY_DEFAULTS.neighbours);
  const spread = spreadNeighbours(names.length, most);
  const kind = oneOf('kind', text.kind ?? STUDY_DEFAULTS.kind, ['work', 'cpuTime'] as const);
  const limit = text.limit === undefined ? undefined : 1_000 * number('limit', text.limit, '1');
  return checkStudy({
    seed: Math.min(MAX_SEED, integer('seed', text.seed, STUDY_DEFAULTS.seed)),
    kind,
    rate: oneOf('rate', text.rate ?? STUDY_DEFAULTS.rate, ['reference', 'local'] as const),
    nodes: names.map((name, index) => ({ name, millicores, neighbours: spread[index] ?? 0 })),
    qos: list(text.qos ?? STUDY_DEFAULTS.qos).map((name): QosClass =>
      oneOf('qos', name, QOS_CLASSES),
    ),
    demands: demandsOf(text),
    executions: integer('executions', text.executions, STUDY_DEFAULTS.executions),
    iterations: integer('iterations', text.iterations, STUDY_DEFAULTS.iterations),
    limitMillicores: Math.round(limit ?? millicores),
    marginPct: MARGIN_PCT,
  });
}

const list = (text: string): readonly string[] => text.split(',').map((part) => part.trim());

function nodeNames(text: string): readonly string[] {
  if (/^\d+$/.test(text)) {
    return Array.from({ length: Number(text) }, (_, index) => `node-${index + 1}`).slice(0, 1_000);
  }
  const names = list(text);
  const bad = names.find((name) => !NODE_NAME.test(name));
  if (bad === undefined) return names;
  throw invalid('nodes', text, 'a number, or names of nodes separated by commas');
}

function demandsOf(text: StudyText): readonly StudyDemand[] {
  const sizes = list(text.demands ?? STUDY_DEFAULTS.demands).map(milliseconds);
  if (text.bursts === undefined) return sizes.map((ms) => ({ ms, bursts: defaultBursts(ms) }));
  const bursts = list(text.bursts).map((part) => integer('bursts', part, ''));
  if (bursts.length !== 1 && bursts.length !== sizes.length) {
    throw invalid('bursts', text.bursts, `one number, or one for each of ${sizes.length} demands`);
  }
  return sizes.map((ms, index) => ({ ms, bursts: bursts[index] ?? bursts[0] ?? 0 }));
}

function milliseconds(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(text) ?? [];
  if (amount === undefined) throw invalid('demands', text, 'times such as 50ms,200ms,1s');
  return Number(amount) * (unit === 's' ? 1_000 : 1);
}

function number(name: string, text: string | undefined, byDefault: string): number {
  const given = text ?? byDefault;
  if (/^\d{1,10}(\.\d+)?$/.test(given)) return Number(given);
  throw invalid(name, given, 'a number');
}

function integer(name: string, text: string | undefined, byDefault: string): number {
  const given = text ?? byDefault;
  if (/^\d{1,10}$/.test(given)) return Number(given);
  throw invalid(name, given, 'a whole number');
}

function oneOf<Choice extends string>(
  name: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw invalid(name, text, choices.join(' or '));
}

const invalid = (name: string, value: string, allowed: string): TachographError =>
  new TachographError('CONFIG_INVALID', { name: `--${name}`, value, remedy: `use ${allowed}` });
