import { plainDecision } from '#infra/autoscaling/plain-decision.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Decision, Observation, ScaleBounds } from '#infra/autoscaling/policy.ts';

/**
 * What a policy of the user's own is given: one function, the default export of one file.
 *
 * `(input) => ({ desired, state?, reason?, details? })`, pure: it must give the same answer to the same
 * input, which `tachograph replay-decisions` checks.
 */
export interface CustomPolicyInput {
  /** The JSON of the annotation `tachograph.io/policy-config`; undefined without it. */
  readonly config: unknown;
  /** What it gave as `state` last time; undefined at first. */
  readonly state: unknown;
  readonly observation: Observation;
  readonly nowMs: number;
}

export interface CustomAnswer {
  readonly desired: number | null;
  readonly state: unknown;
  readonly reason: string;
  readonly details: Decision['details'];
}

/** As many as the process pool keeps of one Service: a figure above is a mistake, not a wish. */
export const MAX_CUSTOM_REPLICAS = 256;
const MAX_TEXT_CHARS = 500;
const MAX_DETAILS = 32;

/** Checks what a policy returned; throws POLICY_FAILED that says what was wrong with it. */
export function checkAnswer(module: string, answer: unknown): CustomAnswer {
  const failed = (detail: string): TachographError =>
    new TachographError('POLICY_FAILED', { policy: module, detail });
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    throw failed(`it returned ${shown(answer)} and not an object such as { desired: 2 }`);
  }
  const { desired, state, reason = '', details = {} } = answer as Record<string, unknown>;
  const valid =
    desired === null ||
    (Number.isInteger(desired) && Number(desired) >= 0 && Number(desired) <= MAX_CUSTOM_REPLICAS);
  if (!valid) {
    const range = `an integer from 0 to ${MAX_CUSTOM_REPLICAS}, or null for no decision`;
    throw failed(`it wants ${shown(desired)} replicas; "desired" must be ${range}`);
  }
  if (typeof reason !== 'string') throw failed(`its reason is ${shown(reason)} and not text`);
  return {
    desired: desired as number | null,
    state,
    reason: reason.slice(0, MAX_TEXT_CHARS),
    details: checkDetails(details, failed),
  };
}

function checkDetails(
  details: unknown,
  failed: (detail: string) => TachographError,
): Decision['details'] {
  if (typeof details !== 'object' || details === null || Array.isArray(details)) {
    throw failed(`its details are ${shown(details)} and not an object`);
  }
  const entries = Object.entries(details);
  if (entries.length > MAX_DETAILS) {
    throw failed(`it gives ${entries.length} details; at most ${MAX_DETAILS} are kept`);
  }
  for (const [name, value] of entries) {
    if (value === null || ['number', 'string', 'boolean'].includes(typeof value)) continue;
    throw failed(
      `its detail "${name}" is ${shown(value)}; use a number, text, true, false or null`,
    );
  }
  return Object.fromEntries(
    Object.entries(details as Decision['details']).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : value,
    ]),
  );
}

/** The decision of an answer within the Service's bounds. */
export function customDecision(answer: CustomAnswer, bounds: ScaleBounds): Decision {
  const { desired: wanted, details } = answer;
  const raised = wanted === null ? null : Math.max(wanted, bounds.min);
  const desired = raised === null || bounds.max === null ? raised : Math.min(raised, bounds.max);
  const limits: string[] = [];
  if (wanted !== null && raised !== wanted) limits.push('min-scale');
  if (desired !== raised) limits.push('max-scale');
  const reason = answer.reason === '' ? `the policy wants ${wanted ?? 'no change'}` : answer.reason;
  return plainDecision({ desired, wanted, reason, limits, details });
}

/** Anything at all as a short text: what a policy returns may be cyclic, or no JSON. */
function shown(value: unknown): string {
  try {
    const text = typeof value === 'object' ? JSON.stringify(value) : describe(value);
    return (text ?? typeof value).slice(0, 100);
  } catch {
    return `an object that is no plain data`;
  }
}

const describe = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);
