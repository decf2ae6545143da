import type { IncomingHttpHeaders } from 'node:http';
import type { HopNotes } from '#eventing/dispatch/hop-notes.ts';

export interface TracedRequest {
  readonly service: string;
  readonly method: string;
  /** As the Service sees it. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** The span of one request on its way from the gateway to its Service. */
export interface GatewaySpan {
  readonly hop: HopNotes;
  /** Its body has been read: it goes on its path. */
  noteRead(bodyBytes: number): void;
  /** The headers to pass on, as `name, value, …`, with this span's place for the caller's. */
  withContext(headers: readonly string[]): readonly string[];
  /** `status`: what the caller was answered; null: it had gone. `code`: of the error, '' none. */
  end(status: number | null, code: string): void;
}

/** Makes the spans of requests at the gateway. There is none where nothing is traced. */
export interface RequestTracing {
  begin(request: TracedRequest): GatewaySpan;
}
