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
  // events
  EMIT_FAILED: row('retry', 503, 'The event {type} could not be handed to the broker: {detail}'),
  EVENT_INVALID: row('reject', 400, 'Not a valid CloudEvent: {detail}'),
  EVENT_TOO_LARGE: row(
    'reject',
    413,
    'The event has {bytes} bytes; at most {maxBytes} are accepted. Send facts, not data',
  ),
  // configuration
  CONFIG_INVALID: row('reject', 400, '{name} = "{value}" is not valid: {remedy}'),
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
