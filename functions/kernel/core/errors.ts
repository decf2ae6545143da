/**
 * The whole failure surface of the program on one page.
 *
 * `kind` says what the caller may do: `reject` (the input is at fault: change it), `retry` (try the
 * same again later), `bug` (ours). `status` is the HTTP status of a synchronous API. A message names
 * the value, the allowed range and the remedy, through the `{name}` fields given when it is raised.
 */
export type ErrorKind = 'reject' | 'retry' | 'bug';

interface ErrorRow {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly message: string;
}

const row = (kind: ErrorKind, status: number, message: string): ErrorRow => ({
  kind,
  status,
  message,
});

/** A fault in an input that is used for the rest. */
const fault = (message: string): ErrorRow => row('reject', 400, message);

export const ERRORS = {
  // identity and names
  ID_PART_INVALID: row(
    'reject',
    400,
    'The {what} "{value}" is not a valid name; use 1 to 64 of letters, digits, ".", "_", "~" and "-"',
  ),
  ID_NUMBER_INVALID: row(
    'reject',
    400,
    'The {what} {value} is out of range; it must be an integer from 0 to {max}',
  ),
  // store
  STORE_BUSY: row('retry', 503, 'The store is busy: {detail}; try again'),
  STORE_UNAVAILABLE: row('retry', 503, 'The store cannot be reached: {detail}; try again'),
  STORE_URL_INVALID: row(
    'reject',
    400,
    'The store URL "{value}" is not known; use sqlite:PATH or mongodb://HOST/DATABASE',
  ),
  STORE_VERSION_UNKNOWN: row(
    'reject',
    500,
    'The store {path} has version {version}, this program reads {expected}; use the program that wrote it, or another path',
  ),
  STORE_LIMIT_INVALID: row('reject', 400, 'The limit {limit} is out of range; use 1 to {max}'),
  STORE_DOCUMENT_TOO_LARGE: row(
    'reject',
    413,
    'The document {document} has {bytes} bytes; at most {maxBytes} can be stored. Send smaller batches',
  ),
  // events
  EMIT_FAILED: row('retry', 503, 'The event {type} could not be handed to the broker: {detail}'),
  EVENT_INVALID: row('reject', 400, 'Not a valid CloudEvent: {detail}'),
  EVENT_TOO_LARGE: row(
    'reject',
    413,
    'The event has {bytes} bytes; at most {maxBytes} are accepted. Send facts, not data',
  ),
  // requests
  BODY_TOO_LARGE: row(
    'reject',
    413,
    'The body is too large; at most {maxBytes} bytes are accepted',
  ),
  MEDIA_TYPE_UNKNOWN: row('reject', 415, 'The content type is not accepted on this route'),
  REQUEST_INVALID: row('reject', 400, 'The request is not valid: {detail}'),
  ROUTE_UNKNOWN: row('reject', 404, 'There is no {method} {path} here; see /docs'),
  INTERNAL: row('bug', 500, 'Something went wrong on our side; it was logged'),
  STAGE_STOPPING: row('retry', 503, 'The process is stopping; try again'),
  // local cluster
  MANIFEST_INVALID: row('reject', 400, '{at}: {detail}'),
  CLUSTER_LOCKED: row(
    'reject',
    409,
    'The data folder {folder} is in use by process {pid}; stop it with "npx tachograph down", or give another folder',
  ),
  PORT_IN_USE: row(
    'reject',
    409,
    'Port {port} is in use; free it, or give another one with --port',
  ),
  TRACE_UNKNOWN: row(
    'reject',
    404,
    'Of the sampled traces {what} is meant by "{value}"; give a trace id or its beginning (4 digits or more), ' +
      'VEHICLE/SESSION/SEQ or VEHICLE/SEQ: {known}',
  ),
  PIPELINE_NOT_RUNNING: row(
    'reject',
    409,
    'No pipeline is running; start one with "tachograph up"',
  ),
  PIPELINE_RUNS_OTHERWISE: row(
    'reject',
    409,
    'The pipeline runs already, with {detail}; "make down" (npx tachograph down) stops it first',
  ),
  PIPELINE_NOT_STARTED: row('retry', 503, 'The pipeline did not start: {detail}'),
  STAGE_START_FAILED: row('bug', 500, 'The stage {service} did not start: {detail}; see {log}'),
  TRIGGER_RESERVED: row(
    'reject',
    409,
    'The Trigger {name} belongs to the pipeline; give your own another name',
  ),
  OBSERVERS_TOO_MANY: row(
    'reject',
    409,
    'There are {max} added Triggers already, the most there may be; remove one with DELETE /-/triggers/NAME',
  ),
  BUNDLE_FAILED: row('bug', 500, 'The program {entry} cannot be bundled: {detail}'),
  LIMITS_NOT_ENFORCED: row(
    'reject',
    409,
    'This machine does not enforce {what}: {why}; run it where cgroups may be written (as root, or in a delegated subtree)',
  ),
  RECORD_INVALID: row('reject', 400, '{file} is not a record of a run: {detail}'),
  POLICY_FAILED: row('reject', 400, 'The policy {policy} gave no decision: {detail}'),
  SERVICE_UNKNOWN: row('reject', 404, 'There is no Service "{value}" here; known: {known}'),
  SERVICE_STARTING: row('retry', 503, 'The Service {service} is not ready; try again'),
  SERVICE_OVERLOADED: row('retry', 503, '{service} is busy: {queued} requests wait; try again'),
  SERVICE_BUSY: row('retry', 503, '{service} is busy: no place for {limitMs} ms; try again'),
  GATEWAY_OVERLOADED: row('retry', 503, 'The gateway holds {max} {what}, its limit; try again'),
  BODY_TIMEOUT: row('reject', 408, 'Nothing of the body came for {limitMs} ms; send it again'),
  SERVICE_UNREACHABLE: row('retry', 503, 'The Service {service} cut the connection; try again'),
  SERVICE_TIMEOUT: row('retry', 504, 'The Service {service} gave no answer within {limitMs} ms'),
  SERVICE_ANSWER_TOO_LARGE: row(
    'reject',
    502,
    'The answer of the Service {service} has more than {maxBytes} bytes',
  ),
  // stored samples
  TABLES_DIFFER: row(
    'reject',
    422,
    'Windows of one session have different columns for {bus} {message}: {detail}. Process it anew',
  ),
  BLOCK_CORRUPT: row('reject', 422, 'A block of stored samples cannot be read: {detail}'),
  BLOCK_TOO_LARGE: row(
    'reject',
    413,
    'The samples have {value} {what}; a block holds at most {max}. Use a shorter window',
  ),
  // batches
  BODY_EMPTY: row('reject', 400, 'The body is empty; send {expected}'),
  BODY_ENCODING_UNKNOWN: row(
    'reject',
    415,
    'The content encoding "{value}" is not accepted; send gzip, zstd or identity',
  ),
  BODY_COMPRESSION_INVALID: row(
    'reject',
    400,
    'The body is not valid {encoding}: {detail}; compress it anew and send it whole',
  ),
  BODY_INFLATED_TOO_LARGE: row(
    'reject',
    413,
    'The body has more than {maxBytes} bytes when decompressed; send smaller batches',
  ),
  BODY_TYPE_UNKNOWN: row(
    'reject',
    415,
    'The content type "{value}" is not accepted; send application/cbor or application/json',
  ),
  BODY_MALFORMED: row('reject', 400, 'The body is not valid {format}: {detail}'),
  BATCH_SCHEMA_UNKNOWN: row(
    'reject',
    400,
    'The batch schema {value} is not known; this server reads "{known}"',
  ),
  FIELD_INVALID: row(
    'reject',
    400,
    'The field {field} = {value} is not valid; it must be {allowed}',
  ),
  // broker
  BROKER_UNKNOWN: row('reject', 404, 'There is no Broker at {path}; POST to /<namespace>/<broker>'),
  BROKER_METHOD: row('reject', 405, 'A Broker takes POST with a CloudEvent, not {method}'),
  BROKER_ENCODING: row(
    'reject',
    415,
    'The content encoding "{value}" is not accepted by the Broker; send events uncompressed',
  ),
  BROKER_UNAVAILABLE: row('retry', 503, 'The Broker cannot store events now: {detail}; try again'),
  BROKER_BUSY: row(
    'retry',
    503,
    'The Broker is storing {limit} events at once, its limit; try again later',
  ),
  NATS_NOT_FOUND: row(
    'reject',
    503,
    'No nats-server of version {minimum} or newer was found: {detail}. Put one on the PATH, set NATS_URL, or install Go',
  ),
  NATS_START_FAILED: row('retry', 503, 'nats-server did not start: {detail}; see {logFile}'),
  // uploads and check-ins of vehicles
  TOKEN_MISSING: row(
    'reject',
    401,
    'There is no vehicle token; send "Authorization: Bearer TOKEN"',
  ),
  TOKEN_UNKNOWN: row(
    'reject',
    401,
    'The token is not one of this vehicle; ask an engineer for a new one',
  ),
  TOKEN_EXPIRED: row(
    'reject',
    401,
    'The token expired at {expiredAt}; ask an engineer for a new one',
  ),
  TOKEN_NOT_YET_VALID: row('reject', 401, 'The token is valid from {validFrom} on; use it then'),
  TOKEN_REVOKED: row(
    'reject',
    401,
    'The token was revoked or replaced by two newer ones; ask an engineer for a new one',
  ),
  VEHICLE_FORBIDDEN: row(
    'reject',
    403,
    'The token belongs to another vehicle than {vehicle}; use the address of its own vehicle',
  ),
  BATCH_VEHICLE_MISMATCH: row(
    'reject',
    403,
    'The batch says vehicle {value}, the address says {vehicle}; both must be the sender',
  ),
  UPLOAD_CAMPAIGN_UNKNOWN: row(
    'reject',
    422,
    'There is no campaign {campaign} with version {version}; check in to learn the campaigns due',
  ),
  UPLOAD_CAMPAIGN_CLOSED: row(
    'reject',
    422,
    'The campaign {campaign} is in state {state}; it takes data when approved, running or paused',
  ),
  UPLOAD_NOT_TARGETED: row(
    'reject',
    403,
    'The campaign {campaign} version {version} is not for the vehicle {vehicle}; record only what check-ins answer',
  ),
  SESSION_CAMPAIGN_CHANGED: row(
    'reject',
    422,
    'The session {session} belongs to {campaign} version {version}; begin a new session for another',
  ),
  SESSION_KIND_CHANGED: row(
    'reject',
    422,
    'The session {session} holds {kind} batches; begin a new session for another kind',
  ),
  UPLOAD_WINDOWS_TOO_MANY: row(
    'reject',
    422,
    'The batch spans {windows} windows of {windowMs} ms; at most {max}, up to number {maxWindow}, are accepted. Cut shorter batches',
  ),
  BATCH_CONFLICT: row(
    'reject',
    409,
    'Batch {batch} was stored with the content {firstSha256}; this one differs. It was set aside. Use a new sequence number',
  ),
  UPLOADS_BUSY: row(
    'retry',
    503,
    'Uploads take up the {maxBytes} bytes there are for them, and {waiting} wait; try again',
  ),
  // exported files
  FILES_UNAVAILABLE: row(
    'retry',
    503,
    'The exported files cannot be {action}: {detail}; check free space and permissions of FILES_URL, then try again',
  ),
  FILES_URL_INVALID: row(
    'reject',
    400,
    'The files URL "{value}" is not known; use folder:PATH or store:',
  ),
  FILES_DAMAGED: row('bug', 500, 'The stored file {path} is damaged: {detail}; export it again'),
  DATASET_UNKNOWN: row(
    'reject',
    404,
    'There is nothing exported under {path}; GET /v1/datasets/VEHICLE lists what there is',
  ),
  FILE_UNKNOWN: row(
    'reject',
    404,
    'There is no file "{path}" in this session; GET /v1/datasets/VEHICLE/SESSION lists them',
  ),
  RANGE_UNSATISFIABLE: row(
    'reject',
    416,
    'The range "{range}" lies outside the file of {bytes} bytes; ask for bytes 0 to {bytes}, end exclusive',
  ),
  SESSION_TOO_LARGE: row(
    'reject',
    413,
    'Session {session} has {value} {what}, more than the {max} that can be compacted; use its parts, or end recording sessions sooner',
  ),
  // CAN databases
  DBC_TOO_LARGE: row('reject', 413, 'The DBC file has {bytes} bytes; the limit is {maxBytes}'),
  DBC_TOO_MANY_MESSAGES: row('reject', 413, 'The DBC file has more than {max} messages; split it'),
  DBC_TOO_BROKEN: row(
    'reject',
    400,
    'More than {max} statements cannot be read; this does not look like a DBC file',
  ),
  // CAN databases: one fault in a file that is used for the rest
  DBC_SYNTAX: fault('Expected {expected}, found {found}'),
  DBC_STATEMENT_UNKNOWN: fault('Expected a statement such as BO_ or SG_, found {word}'),
  DBC_STATEMENT_TOO_LONG: fault(
    'The statement is longer than {maxCharacters} characters; a closing quote may be missing',
  ),
  DBC_ID_UNMARKED: fault(
    'The id {id} of the message "{name}" needs more than 11 bits and is read as one of 29; add {flag} to say so',
  ),
  DBC_MESSAGE_INVALID: fault('The message "{name}" is left out: {detail}'),
  DBC_SIGNAL_INVALID: fault(
    'The signal "{signal}" of the message "{message}" is left out: {detail}',
  ),
  DBC_SIGNAL_ORPHAN: fault(
    'The signal "{signal}" and those that follow are left out: no readable message is before them',
  ),
  DBC_TOO_MANY_SIGNALS: fault(
    'The message "{message}" has more than {max} signals; the rest is left out',
  ),
  DBC_REFERENCE_UNKNOWN: fault('The file does not define {what}'),
  DBC_ATTRIBUTE_INVALID: fault('The value "{value}" of {name} is not used: it {rule}'),
  DBC_NUMBER_ROUNDED: fault('{value} is {what} that no double holds; {used} is used in its place'),
  DBC_FAULTS_UNLISTED: fault('{unlisted} more faults after the first {max}'),
  // engineers' API
  ENGINEER_TOKEN_MISSING: row(
    'reject',
    401,
    'There is no engineer\'s token; send "Authorization: Bearer TOKEN"',
  ),
  ENGINEER_TOKEN_INVALID: row(
    'reject',
    401,
    "This is not the engineers' token; send the one that this installation was set up with",
  ),
  CAMPAIGN_INVALID: row('reject', 422, 'The campaign has {count} faults; the first: {first}'),
  CAMPAIGN_FILE_INVALID: row('reject', 400, 'The campaign {campaign} is not usable: {detail}'),
  CAMPAIGN_UNKNOWN: row(
    'reject',
    404,
    'There is no campaign {campaign}; GET /v1/campaigns lists them',
  ),
  CAMPAIGN_NOT_DRAFT: row(
    'reject',
    409,
    'The campaign {campaign} is {state}; only a draft can be changed. Use another id',
  ),
  CAMPAIGN_TRANSITION: row(
    'reject',
    409,
    'The campaign {campaign} is {state} and cannot {action}; from {state} it can: {allowed}',
  ),
  CAMPAIGN_RACE: row(
    'reject',
    409,
    'The campaign {campaign} was changed meanwhile (version {version}); read it and try again',
  ),
  DECODER_UNKNOWN: row('reject', 404, 'There is no decoder {sha256}; POST the DBC to /v1/decoders'),
  DECODER_UNUSABLE: row(
    'reject',
    422,
    'The DBC {name} has no usable message; {faults} faults, the first: {first}',
  ),
  VEHICLE_TOKEN_NOT_FOUND: row(
    'reject',
    404,
    'The vehicle {vehicle} has no token of version {version}',
  ),
  VEHICLE_TOKENS_RACE: row(
    'retry',
    503,
    'The tokens of {vehicle} are being changed by somebody else; try again',
  ),
  // calibration
  CALIBRATION_MISSING: row(
    'reject',
    400,
    'There is no calibration {file}, which rate=local needs; run "tachograph calibrate" on this machine, or leave rate=local out',
  ),
  CALIBRATION_CORRUPT: row(
    'reject',
    400,
    'The calibration {file} cannot be used: {detail}; run "tachograph calibrate", which replaces it',
  ),
  CALIBRATION_STALE: row(
    'reject',
    400,
    'The calibration {file} was made elsewhere ({differences}); run "tachograph calibrate" on this machine',
  ),
  // configuration
  CONFIG_INVALID: row('reject', 400, '{name} = "{value}" is not valid: {remedy}'),
  // load test and results
  DRIVE_EMPTY: row('reject', 400, 'The drive {path} holds no CAN frame; give a candump log'),
  DRIVE_UNREADABLE: row(
    'reject',
    400,
    'The drive {path} cannot be read ({detail}); give a candump log, plain or gzip',
  ),
  DRIVE_TOO_LONG: row(
    'reject',
    400,
    'The drive {path} is too long: at most {max} {what} can be replayed; cut it',
  ),
  LOAD_TOO_LARGE: row(
    'reject',
    400,
    'The load has {arrivals} batches; at most {max} can be planned. Lower rate or duration, or use more vehicles',
  ),
  EXPERIMENT_INVALID: row('reject', 400, '{at}: {detail}'),
  API_REFUSED: row('reject', 502, '{path} answered {status}: {detail}'),
  CHECKIN_UNREADABLE: row('reject', 502, 'The answer to a check-in cannot be read: {detail}'),
  SUMMARY_INVALID: row('bug', 500, 'The summary does not match its schema: {detail}'),
  RESULT_UNREADABLE: row(
    'reject',
    400,
    'The result folder {folder} cannot be read: {detail}; give one that "make demo" made',
  ),
  // demand
  DEMAND_INVALID: row('reject', 400, 'The demand is not usable: column {column}: {detail}'),
  DEMAND_RATE_UNKNOWN: row(
    'reject',
    400,
    'The demand {demand} needs the speed of this machine; run "tachograph calibrate" on it, or use rate=reference',
  ),
  DEMAND_QUEUE_FULL: row(
    'retry',
    503,
    'There are {waiting} bursts waiting for a burner already, at most {max} may; try again',
  ),
  DEMAND_MEMORY_SHORT: row(
    'retry',
    503,
    'There is no memory for {bytes} bytes to hold; try again, or ask for less',
  ),
  DEMAND_PLACE_UNUSABLE: row(
    'reject',
    400,
    'A demand "instead" is of no use for {stage}: what it answers follows from its work; use before or after',
  ),
  CALLER_GONE: row('retry', 503, 'The caller closed the connection; the work was not finished'),
  CPU_CLOCK_UNUSABLE: row(
    'reject',
    500,
    'No clock of this machine measures the CPU time of a thread ({faults}); use work instead of cpuTime',
  ),
  // variability study
  STUDY_INVALID: row('reject', 400, 'The study has {value} {what}; use {min} to {max}'),
  STUDY_REPEATS: row('reject', 400, 'The study has the {what} {value} twice; name each once'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** An expected failure, one row of the table above with its fields filled in. */
export class TachographError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly status: number;
  readonly fields: Readonly<Record<string, string | number>>;

  constructor(
    code: ErrorCode,
    fields: Readonly<Record<string, string | number>> = {},
    options?: ErrorOptions,
  ) {
    const { kind, status, message } = ERRORS[code];
    super(
      message.replaceAll(/\{(\w+)\}/g, (_, name: string) => shorten(String(fields[name] ?? '?'))),
      options,
    );
    this.name = 'TachographError';
    this.code = code;
    this.kind = kind;
    this.status = status;
    this.fields = fields;
  }
}

/** A hostile value must not fill a log or an answer: 200 characters, control characters shown. */
function shorten(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const visible = text.replaceAll(/[\u0000-\u001f\u007f]/g, '\uFFFD');
  return visible.length > 200 ? `${visible.slice(0, 200)}…` : visible;
}

/** The body of every error answer: `{ error: { code, message, … } }`. Never a stack trace. */
export function errorBody(error: TachographError): { error: Record<string, unknown> } {
  return { error: { code: error.code, message: error.message, ...error.fields } };
}
