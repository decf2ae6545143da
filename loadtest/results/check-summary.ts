import { Ajv } from 'ajv';
import { TachographError } from '#kernel/core/errors.ts';
import schema from './summary.schema.json' with { type: 'json' };
import type { Summary } from './summary.ts';

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile<Summary>(schema);

/** The value as a summary; throws SUMMARY_INVALID naming each place that differs from the schema. */
export function checkSummary(value: unknown): Summary {
  if (validate(value)) return value;
  const detail = (validate.errors ?? [])
    .map(({ instancePath, message }) => `${instancePath === '' ? '/' : instancePath} ${message}`)
    .join('; ');
  throw new TachographError('SUMMARY_INVALID', { detail });
}
