import { FieldReader } from '#infra/autoscaling/field-reader.ts';
import {
  DEFAULT_BEHAVIOR,
  type ScalingBehavior,
  type ScalingPolicy,
  type ScalingRules,
} from './hpa-config.ts';

const MAX_POLICIES = 16;
/** The API's own bounds: pkg/apis/autoscaling/validation. */
const MAX_WINDOW_S = 3_600;
const MAX_PERIOD_S = 1_800;

/**
 * Reads `behavior` of a HorizontalPodAutoscaler, with the API's defaults filled in. Null where there is
 * none: that is not the same as an empty one, `behavior: {}`, which has the defaults.
 */
export function readBehavior(
  reader: FieldReader,
  root: unknown,
  at: readonly string[],
): ScalingBehavior | null {
  if (FieldReader.at(root, at) === undefined) return null;
  return {
    scaleUp: readRules(reader, root, [...at, 'scaleUp'], DEFAULT_BEHAVIOR.scaleUp),
    scaleDown: readRules(reader, root, [...at, 'scaleDown'], DEFAULT_BEHAVIOR.scaleDown),
  };
}

function readRules(
  reader: FieldReader,
  root: unknown,
  at: readonly string[],
  defaults: ScalingRules,
): ScalingRules {
  if (FieldReader.at(root, at) === undefined) return defaults;
  const window = FieldReader.at(root, [...at, 'stabilizationWindowSeconds']);
  const windowS = reader.number(root, [...at, 'stabilizationWindowSeconds'], {
    min: 0,
    max: MAX_WINDOW_S,
    integer: true,
    fallback: 0,
  });
  const tolerance = FieldReader.at(root, [...at, 'tolerance']);
  return {
    stabilizationWindowMs: window === undefined ? defaults.stabilizationWindowMs : windowS * 1_000,
    policies: readPolicies(reader, root, [...at, 'policies'], defaults.policies),
    selectPolicy: reader.oneOf(
      root,
      [...at, 'selectPolicy'],
      ['Max', 'Min', 'Disabled'],
      defaults.selectPolicy,
    ),
    tolerance:
      tolerance === undefined
        ? defaults.tolerance
        : reader.number(root, [...at, 'tolerance'], { min: 0, max: 10, text: 'too', fallback: 0 }),
  };
}

function readPolicies(
  reader: FieldReader,
  root: unknown,
  at: readonly string[],
  defaults: readonly ScalingPolicy[],
): readonly ScalingPolicy[] {
  const found = FieldReader.at(root, at);
  if (found === undefined) return defaults;
  if (!Array.isArray(found) || found.length === 0 || found.length > MAX_POLICIES) {
    reader.fault(at, `policies must be a list of 1 to ${MAX_POLICIES}`);
    return defaults;
  }
  return found.map((_, index) => {
    const path = [...at, String(index)];
    const count = { min: 1, max: 1_000_000, integer: true };
    return {
      type: reader.oneOf(root, [...path, 'type'], ['Pods', 'Percent']),
      value: reader.number(root, [...path, 'value'], count),
      periodMs:
        reader.number(root, [...path, 'periodSeconds'], { ...count, max: MAX_PERIOD_S }) * 1_000,
    };
  });
}
