/** A CloudEvent 1.0 as the program carries it: context attributes apart, data as opaque bytes. */
export interface CloudEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string;
  /** RFC 3339. */
  readonly time?: string;
  readonly datacontenttype?: string;
  readonly dataschema?: string;
  /** Extension attributes by their lower-case names (`partitionkey`, `traceparent`, `tachointended` …). */
  readonly extensions: Readonly<Record<string, string>>;
  /** Empty when the event has no data. */
  readonly data: Uint8Array;
}
