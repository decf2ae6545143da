import { Ajv } from 'ajv';
import { TachographError } from '#kernel/core/errors.ts';
import schema from './summary.schema.json' with { type: 'json' };

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);

/** The summary of any kind as it is; throws SUMMARY_INVALID naming each place that differs from the schema. */
export function checkSummary<AnySummary>(value: AnySummary): AnySummary {
  if (validate(value)) return value;
  const detail = (validate.errors ?? [])
    .map(({ instancePath, message }) => `${instancePath === '' ? '/' : instancePath} ${message}`)
    .join('; ');
  throw new TachographError('SUMMARY_INVALID', { detail });
}
