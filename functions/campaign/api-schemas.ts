/** What the routes' descriptions share (OpenAPI). They inform; the code judges. */

const fault = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'What is meant, like signals[3].record' },
    message: { type: 'string' },
    line: { type: 'integer', nullable: true, description: 'From 1' },
    column: { type: 'integer', nullable: true, description: 'From 1' },
  },
} as const;

const error = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
    },
  },
} as const;

export const errorAnswer = (description: string) => ({ description, ...error });

export const FAULTS_ANSWER = {
  description: 'The campaign cannot be used: every fault with its place',
  type: 'object',
  properties: { ...error.properties, faults: { type: 'array', items: fault } },
} as const;

export const ESTIMATE = {
  type: 'object',
  nullable: true,
  description: 'Data volume of one vehicle while it drives',
  properties: {
    signals: { type: 'integer' },
    framesPerS: { type: 'integer' },
    samplesPerS: { type: 'integer' },
    uploadBytesPerS: { type: 'integer' },
    storedBytesPerS: { type: 'integer' },
    storedBytesPerHour: { type: 'integer' },
    assumptions: { type: 'array', items: { type: 'string' } },
  },
} as const;

export const CAMPAIGN = {
  type: 'object',
  properties: {
    campaign: { type: 'string' },
    version: { type: 'integer' },
    state: { type: 'string', enum: ['draft', 'approved', 'running', 'paused', 'ended'] },
    definition: { type: 'object', additionalProperties: true },
    definitionSha256: { type: 'string' },
    createdAtMs: { type: 'integer', description: 'ms since 1970-01-01 UTC' },
    by: { type: 'string' },
  },
} as const;

export const CHECKED = {
  description: 'The judgement',
  type: 'object',
  properties: {
    valid: { type: 'boolean' },
    faults: { type: 'array', items: fault },
    faultCount: { type: 'integer' },
    estimate: ESTIMATE,
  },
} as const;

/** The keys of a campaign; docs and faults give the limits. */
export const CAMPAIGN_INPUT = {
  type: 'object',
  description: 'YAML or JSON. Only id is required; unknown keys are faults.',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    description: { type: 'string' },
    kind: { type: 'string', enum: ['homologation', 'fleet'] },
    target: { type: 'object', additionalProperties: true },
    window: { type: 'object', additionalProperties: true },
    decoders: { type: 'object', additionalProperties: true, description: 'bus → { sha256 }' },
    signals: { type: 'array', items: { type: 'object', additionalProperties: true } },
    rawFrames: { description: 'all, none or a list of { bus, id }' },
    upload: { type: 'object', additionalProperties: true },
    cache: { type: 'object', additionalProperties: true },
    processing: { type: 'object', additionalProperties: true },
    export: { type: 'object', additionalProperties: true },
  },
} as const;

export const SECURITY = [{ bearer: [] }];
export const YAML_OR_JSON = ['application/yaml', 'application/json'];

export const PAGE_QUERY = {
  type: 'object',
  properties: {
    after: { type: 'string', description: 'The last name of the page before' },
    limit: { type: 'integer', minimum: 1, maximum: 500, default: 100 },
  },
} as const;

/** The path's parameters, all texts. */
export const params = (...names: readonly string[]) => ({
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});
