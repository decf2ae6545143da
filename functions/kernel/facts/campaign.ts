/** The campaign model: what to record, how often, how to process and export it. */

export type CampaignState = 'draft' | 'approved' | 'running' | 'paused' | 'ended';

export type RecordRule =
  | { readonly all: true }
  | { readonly everyMs: number }
  | { readonly onChange: { readonly deadband: number } };

export type CampaignSignal = {
  /** `Message.Signal`. */
  readonly name: string;
  readonly bus: string;
  readonly record: RecordRule;
};

export type CampaignDefinition = {
  readonly name: string;
  readonly description: string;
  readonly kind: 'homologation' | 'fleet';
  readonly target: { readonly vehicles: readonly string[] | 'all' };
  readonly window: { readonly startAt: string | null; readonly endAt: string | null };
  /** Bus name → SHA-256 of its DBC (`decoders`). Buses without one are recorded and counted as unknown id. */
  readonly decoders: Readonly<Record<string, string>>;
  /** Empty: every signal of the decoders. */
  readonly signals: readonly CampaignSignal[];
  /** Which raw frames a vehicle records beside the signals' messages; ids are (bus, id) pairs. */
  readonly rawFrames: 'all' | 'none' | readonly { readonly bus: string; readonly id: number }[];
  readonly upload: { readonly everyMs: number; readonly maxBatchBytes: number };
  readonly cache: {
    readonly maxBytes: number;
    readonly whenFull: 'stopRecording' | 'dropOldest' | 'dropNewest';
  };
  readonly processing: {
    /** Window length; by default upload.everyMs. */
    readonly windowMs: number;
    /** A window with a gap before it closes this long after its last batch came in. */
    readonly graceMs: number;
    readonly abandonAfterMs: number;
    readonly resample: {
      readonly rasterMs: number;
      readonly method: 'hold' | 'linear';
      readonly maxHoldMs: number;
    };
  };
  readonly export: {
    readonly formats: readonly ('parquet' | 'csv')[];
    readonly values: 'physical' | 'raw';
  };
};

/** `campaigns`: one version. Any change, a change of state too, is a new version. */
export type CampaignFact = {
  readonly campaign: string;
  readonly version: number;
  readonly state: CampaignState;
  readonly definition: CampaignDefinition;
  /** Hex SHA-256 of the definition's canonical CBOR: what a vehicle says it has enacted. */
  readonly definitionSha256: string;
  readonly createdAtMs: number;
  readonly by: string;
};
