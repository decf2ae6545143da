/** Spans as OTLP/JSON requests, one a line. */
export const SPANS_FILE = 'spans.ndjson';
/** The account of them, written when the collector closes. */
export const TRACING_FILE = 'tracing.json';

/** `tracing.json`: how many spans there are, and how many are missing. */
export interface TracingFile {
  readonly schema: 'tachograph.tracing/1';
  readonly spans: number;
  readonly bytes: number;
  /** Requests that were no spans. */
  readonly refusedRequests: number;
  /** Spans that came when the file was full, or could not be written. */
  readonly droppedByLimit: number;
  /** By instance: spans that the process itself dropped, by its own count. */
  readonly droppedByProcess: Readonly<Record<string, number>>;
}
