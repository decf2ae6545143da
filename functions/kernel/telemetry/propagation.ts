/** A place in a trace, as W3C Trace Context writes it. */
export interface TraceFields {
  /** `00-<trace>-<span>-<flags>`. */
  readonly traceparent: string;
  readonly tracestate?: string;
}

export interface ParsedTraceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Where the place was found that an event or request continues. */
export type ParentFrom = 'header' | 'extension' | 'origin' | 'none';

export interface FoundParent {
  readonly from: ParentFrom;
  readonly fields: TraceFields | undefined;
}

/**
 * Source: W3C Trace Context, 3.2.2. Version 00 has exactly four parts, a later one may have more; ff is
 * no version; ids of zeros are none.
 */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The parts; undefined for what is no traceparent, such as the empty one that some brokers write. */
export function parseTraceparent(text: string | undefined): ParsedTraceparent | undefined {
  const match = text === undefined ? null : TRACEPARENT.exec(text);
  if (match === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = match;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, sampled }: ParsedTraceparent): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

type Values = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * What a request continues: the hop's own context in the HTTP header; else the event's, which an
 * intermediary without tracing carries on; else the origin's, since some brokers overwrite `traceparent`
 * with nothing (Knative's ingress 1.22 does). Each only if it is a proper one.
 */
export function findParent(headers: Values, extensions: Values = {}): FoundParent {
  return (
    usable('header', headers['traceparent'], headers['tracestate']) ??
    usable('extension', extensions['traceparent'], extensions['tracestate']) ??
    usable('origin', extensions['tachotrace'], undefined) ?? { from: 'none', fields: undefined }
  );
}

function usable(
  from: ParentFrom,
  traceparent: Values[string],
  tracestate: Values[string],
): FoundParent | undefined {
  if (typeof traceparent !== 'string' || parseTraceparent(traceparent) === undefined) {
    return undefined;
  }
  const state = typeof tracestate === 'string' && tracestate !== '' ? { tracestate } : {};
  return { from, fields: { traceparent, ...state } };
}

/**
 * The HTTP headers of a hop that goes on from there: intermediaries read them, the event's extensions say
 * the same. What came from outside and is no proper context is not passed on as a header.
 */
export function hopHeaders(extensions: Values): Readonly<Record<string, string>> {
  const { fields } = usable('extension', extensions['traceparent'], extensions['tracestate']) ?? {};
  if (fields === undefined) return {};
  const { traceparent, tracestate } = fields;
  return tracestate !== undefined && TRACESTATE.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}

/** Source: W3C Trace Context, 3.3.1.5: 512 characters should be carried on. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;
