/**
 * The facts' documents. Aliases, not interfaces: only an alias fits the store's index signature.
 * Times: `…Ms` wall clock of the service, `…Us` vehicle.
 */

/** `batches`: the raw batch as received. */
export type BatchFact = {
  readonly vehicle: string;
  readonly session: string;
  readonly seq: number;
  readonly contentType: string;
  /** '' | 'gzip' | 'zstd': how `body` is compressed. */
  readonly contentEncoding: string;
  readonly body: Uint8Array;
  /** Lower-case hex SHA-256 of the *uncompressed* body: two uploads are the same when this is. */
  readonly sha256: string;
  readonly receivedAtMs: number;
};

export type BatchFlag = 'clock1970' | 'clockFuture' | 'countMismatch' | 'framesUnsorted';

/** `receipts`: a batch's index card. */
export type ReceiptFact = {
  readonly vehicle: string;
  readonly session: string;
  readonly seq: number;
  readonly campaign: string;
  readonly campaignVersion: number;
  readonly fromUs: number;
  readonly untilUs: number;
  /** Time of the first and last frame; null without frames. */
  readonly firstUs: number | null;
  readonly lastUs: number | null;
  /** Counted from the body, not the vehicle's word. */
  readonly frames: number;
  readonly unsortedFrames: number;
  readonly seen: number;
  readonly matched: number;
  readonly recordedByVehicle: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly clock: {
    readonly monotonicUs: number;
    readonly wallUs: number;
    readonly source: string;
  };
  readonly end: boolean;
  /** An emulated batch: no frames, a window of its own. */
  readonly emulated?: true;
  readonly flags: readonly BatchFlag[];
  readonly sha256: string;
  readonly bodyBytes: number;
  readonly receivedAtMs: number;
  /** Where its reception is in its trace, as W3C Trace Context writes it, for the window's links. */
  readonly trace?: string;
};

/** `bindings`: the one campaign and version of a session, written before its first batch. */
export type BindingFact = {
  readonly vehicle: string;
  readonly session: string;
  readonly campaign: string;
  readonly campaignVersion: number;
  /** Its batches are emulated. */
  readonly emulated?: true;
};

export type SeqGap = {
  readonly firstSeq: number;
  readonly lastSeq: number;
};

/** `windows`: one revision of a closed window. */
export type WindowFact = {
  readonly vehicle: string;
  readonly session: string;
  readonly window: number;
  readonly revision: number;
  readonly campaign: string;
  readonly campaignVersion: number;
  readonly fromUs: number;
  readonly untilUs: number;
  /** Sequence numbers of all batches the window needs, ascending: its own and those read back into. */
  readonly seqs: readonly number[];
  /** Of these, the ones with time inside the window itself. */
  readonly ownSeqs: readonly number[];
  /** Sequence numbers missing before the end of the window when it closed. */
  readonly gaps: readonly SeqGap[];
  readonly reason: 'covered' | 'endMark' | 'grace' | 'late';
  /** All its own batches are emulated, or a demand stood for following its session: no frames. */
  readonly emulated?: true;
  /** Id of the event whose handling closed it: the one that is delivered again when emission failed. */
  readonly closedBy: string;
};

/** `sessions`: one revision of a closed session. */
export type SessionFact = {
  readonly vehicle: string;
  readonly session: string;
  readonly revision: number;
  readonly campaign: string;
  readonly campaignVersion: number;
  readonly reason: 'endMark' | 'abandoned';
  /** All its batches are emulated: there is nothing to compact. */
  readonly emulated?: true;
  readonly batches: number;
  readonly frames: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly gaps: readonly SeqGap[];
  readonly dropped: Readonly<Record<string, number>>;
  /** The newest revision of every window, ascending by window. */
  readonly windows: readonly { readonly window: number; readonly revision: number }[];
  readonly closedBy: string;
};

export type IdCount = {
  readonly bus: string;
  readonly id: number;
  readonly extended: boolean;
  readonly frames: number;
};

/** What became of the frames of a window's own span. recorded = decoded + unknownId + noData. */
export type FrameAccount = {
  readonly recorded: number;
  readonly decoded: number;
  readonly unknownId: number;
  /** Remote and error frames. */
  readonly noData: number;
  /** Parts of `decoded`. */
  readonly truncated: number;
  readonly unknownSelector: number;
  readonly longer: number;
  readonly unknownIds: readonly IdCount[];
  readonly unknownSelectors: readonly IdCount[];
};

/** Findings of cleansing: counted and flagged, nothing is deleted. */
export type SignalQuality = {
  readonly bus: string;
  readonly message: string;
  readonly signal: string;
  readonly samples: number;
  readonly outOfRange: number;
  readonly notAvailable: number;
  readonly constant: boolean;
};

/** `results`: a window decoded, cleansed, resampled and compressed. */
export type ResultFact = {
  readonly vehicle: string;
  readonly session: string;
  readonly window: number;
  readonly revision: number;
  readonly versions: string;
  /**
   * Of an emulated window, or a demand stood for the processing: nothing was read, so that `campaign`
   * to `dbc` are empty, and so are the blocks.
   */
  readonly emulated?: true;
  readonly campaign: string;
  readonly campaignVersion: number;
  /** Provenance. */
  readonly batches: readonly string[];
  readonly dbc: Readonly<Record<string, string>>;
  readonly software: string;
  readonly fromUs: number;
  readonly untilUs: number;
  readonly frames: FrameAccount;
  readonly unsortedFrames: number;
  readonly duplicateFrames: number;
  readonly quality: readonly SignalQuality[];
  /** Blocks of the sample codec (functions/kernel/columns): the window's own frames; the raster rows. */
  readonly recorded: Uint8Array;
  readonly raster: Uint8Array;
  readonly samples: number;
};

export type ExportedFile = {
  /** Relative to the export root: `<vehicle>/<session>/…`. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly rows: number;
};

/** `exports`: a window's part, or a session's compacted files (window null). */
export type ExportFact = {
  readonly vehicle: string;
  readonly session: string;
  readonly window: number | null;
  readonly revision: number;
  readonly files: readonly ExportedFile[];
  /** A window that has no part of its own: its data were in its session's compacted files before. */
  readonly withSession: boolean;
};

/** `payloads`: noise that a demand adds to what a stage stores, one an event or upload. */
export type PayloadFact = {
  readonly stage: string;
  readonly bytes: Uint8Array;
};

/** `parked`: an event that cannot be used. */
export type ParkedFact = {
  readonly vehicle: string;
  readonly stage: string;
  readonly reason: string;
  readonly detail: string;
  /** The event in structured JSON, so that it can be replayed. */
  readonly event: string;
  readonly parkedAtMs: number;
};

/** `quarantine`: a different batch under a used key. */
export type QuarantineFact = BatchFact & {
  readonly firstSha256: string;
};

/** `credentials`: one token of a vehicle, or a revocation. */
export type CredentialFact = {
  readonly vehicle: string;
  readonly version: number;
  readonly action: 'issued' | 'revoked';
  /** Hex SHA-256 of the token (issued), or null. */
  readonly tokenSha256: string | null;
  readonly notBeforeMs: number;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
};

/** `decoders`: a DBC as uploaded, under its SHA-256. */
export type DecoderFact = {
  readonly sha256: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly createdAtMs: number;
};
