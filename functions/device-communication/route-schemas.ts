/**
 * The OpenAPI descriptions of the vehicles' routes. Bodies are checked by the codecs, not by these.
 */

const text = { type: 'string' } as const;
const name = { type: 'string', pattern: '^[A-Za-z0-9._~-]{1,64}$' } as const;
const integer = { type: 'integer', minimum: 0 } as const;
const hash = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const flag = { type: 'boolean' } as const;

const object = <P extends Readonly<Record<string, unknown>>>(
  properties: P,
  required: readonly string[] = Object.keys(properties),
) => ({ type: 'object', required, properties });

const arrayOf = (items: object) => ({ type: 'array', items });

const params = object({ vehicle: name });
const bearer = [{ bearer: [] }];

const clock = object({
  monotonicUs: integer,
  wallUs: integer,
  source: { type: 'string', enum: ['gnss', 'ntp', 'rtc', 'none'] },
});

/** `{ error: { code, message, … } }`: further members name the value, the range, the limit. */
const errorAnswer = (description: string) => ({
  description,
  ...object({
    error: { ...object({ code: text, message: text }), additionalProperties: true },
  }),
});

const errorAnswers = {
  400: errorAnswer('The body is not what it should be; the message names the field'),
  401: errorAnswer('No token, or one that is unknown, expired or revoked'),
  403: errorAnswer('The token, the batch or the campaign is of another vehicle'),
  413: errorAnswer('The body is larger than the limit, as sent or decompressed'),
  415: errorAnswer('The content type or encoding is not accepted'),
  503: errorAnswer('Not stored for certain: keep the batch, send it again after Retry-After'),
};

const group = object(
  {
    bus: name,
    id: integer,
    extended: flag,
    kind: { type: 'string', enum: ['data', 'fd', 'remote', 'error'] },
    dtUs: arrayOf({ type: 'integer' }),
    payloadHex: arrayOf({ type: 'string', pattern: '^([0-9A-Fa-f]{2})*$' }),
  },
  ['bus', 'id', 'extended', 'kind', 'dtUs'],
);

const counts = object({
  seen: integer,
  matched: integer,
  recorded: integer,
  dropped: { type: 'object', additionalProperties: integer },
});

const batchFields = {
  schema: { type: 'string', enum: ['tachograph.batch/1'] },
  vehicle: name,
  session: name,
  seq: integer,
  campaign: name,
  campaignVersion: { type: 'integer', minimum: 1 },
  fromUs: integer,
  untilUs: integer,
  clock,
  end: flag,
  counts,
  groups: arrayOf(group),
} as const;
const emulated = { type: 'boolean', enum: [true] } as const;

const batch = object({ ...batchFields, emulated }, Object.keys(batchFields));

const timeOrNull = { type: ['integer', 'null'] } as const;

const receiptFields = {
  vehicle: text,
  session: text,
  seq: integer,
  campaign: text,
  campaignVersion: integer,
  fromUs: integer,
  untilUs: integer,
  firstUs: timeOrNull,
  lastUs: timeOrNull,
  frames: integer,
  unsortedFrames: integer,
  seen: integer,
  matched: integer,
  recordedByVehicle: integer,
  dropped: { type: 'object', additionalProperties: integer },
  clock,
  end: flag,
  flags: arrayOf(text),
  sha256: hash,
  bodyBytes: integer,
  receivedAtMs: integer,
} as const;

const receipt = object({ ...receiptFields, emulated }, Object.keys(receiptFields));

const stored = (description: string) => ({ description, ...object({ duplicate: flag, receipt }) });

export const batchRouteSchema = {
  summary: 'Upload a batch of recorded frames',
  description:
    'Idempotent by (vehicle, session, seq): send it again until a 2xx answer. Content-Encoding ' +
    'gzip, zstd or none. A plain POST, or a CloudEvent in binary mode ' +
    '(io.tachograph.batch.recorded.v1).',
  tags: ['vehicles'],
  security: bearer,
  params,
  body: {
    content: {
      'application/cbor': { schema: { type: 'string', format: 'binary' } },
      'application/json': { schema: batch },
    },
  },
  response: {
    200: stored('Stored before: the first receipt'),
    201: stored('Stored and announced'),
    ...errorAnswers,
    409: errorAnswer('Another content was stored under this key; this one was set aside'),
    422: errorAnswer('The campaign does not take this batch'),
  },
};

const told = object({
  campaign: text,
  version: integer,
  definitionSha256: hash,
  definition: { type: 'object', additionalProperties: true },
});

const reported = object(
  {
    campaign: name,
    version: { type: 'integer', minimum: 1 },
    definitionSha256: hash,
    state: { type: 'string', enum: ['enacted', 'recording', 'done', 'failed'] },
    reason: { type: 'string', minLength: 1, maxLength: 500, description: 'Required with failed' },
  },
  ['campaign', 'version', 'definitionSha256', 'state'],
);

const report = object(
  { software: { type: 'string', maxLength: 500 }, campaigns: arrayOf(reported), clock },
  ['campaigns'],
);

export const checkinRouteSchema = {
  summary: 'Check in: say what is recorded, learn what is due',
  description:
    'The vehicle lists every campaign it has enacted; the answer lists every campaign it should ' +
    'record now, with its definition.',
  tags: ['vehicles'],
  security: bearer,
  params,
  body: {
    content: {
      'application/json': { schema: report },
      'application/cbor': { schema: { type: 'string', format: 'binary' } },
    },
  },
  response: {
    200: {
      description: 'The campaigns due',
      ...object({
        vehicle: text,
        serverTimeMs: integer,
        uploadUrl: text,
        campaigns: arrayOf(told),
      }),
    },
    ...errorAnswers,
  },
};
