/**
 * The one table of events: who says what to whom. Triggers, topology and documentation are checked
 * against it (catalog.test.ts).
 */

export const STAGE_NAMES = [
  'campaign',
  'device-communication',
  'data-provider',
  'data-processing',
  'export',
] as const;

export type StageName = (typeof STAGE_NAMES)[number];

export interface CampaignChanged {
  readonly campaign: string;
  readonly version: number;
  readonly state: string;
}

export interface BatchStored {
  readonly vehicle: string;
  readonly session: string;
  readonly seq: number;
}

export interface WindowReady {
  readonly vehicle: string;
  readonly session: string;
  readonly window: number;
  readonly revision: number;
}

export interface WindowProcessed extends WindowReady {
  /** Last part of the result's id. */
  readonly versions: string;
}

export interface SessionClosed {
  readonly vehicle: string;
  readonly session: string;
  readonly revision: number;
}

/** Batches in a row, by sequence number, both included. */
export interface SeqRange {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** A session of 99,999 batches of which every second is missing would have 50,000: 1.8 MB. */
export const MAX_EXPORTED_RANGES = 1_000;

export interface DatasetExported {
  readonly vehicle: string;
  readonly session: string;
  /** null: the whole session, compacted. */
  readonly window: number | null;
  readonly revision: number;
  /** 0 for a window whose data are in its session's files already, and for one without any row. */
  readonly files: number;
  /**
   * The batches that these data hold all frames of (within the window), ascending. Empty: not told,
   * since they are more than MAX_EXPORTED_RANGES ranges.
   */
  readonly batches: readonly SeqRange[];
}

export interface EventData {
  'campaign.changed.v1': CampaignChanged;
  'batch.stored.v1': BatchStored;
  'window.ready.v1': WindowReady;
  'session.closed.v1': SessionClosed;
  'window.processed.v1': WindowProcessed;
  'dataset.exported.v1': DatasetExported;
}

export type EventName = keyof EventData;

export interface CatalogRow {
  /** Full CloudEvents type. */
  readonly type: string;
  readonly producer: StageName | 'vehicle' | 'platform';
  /** Stages whose Trigger selects it. */
  readonly consumers: readonly StageName[];
  /** How its id is made of the fact it announces. */
  readonly id: string;
  /** How it travels: through the broker, or straight to a stage over HTTP. */
  readonly route: 'broker' | 'http';
}

export const eventType = (name: EventName): string => `io.tachograph.${name}`;
export const eventSource = (stage: StageName): string => `/tachograph/${stage}`;

/** What PingSource emits. */
export const PING_TYPE = 'dev.knative.sources.ping';
/** What a vehicle's upload is. */
export const BATCH_RECORDED_TYPE = 'io.tachograph.batch.recorded.v1';

export const CATALOG: readonly CatalogRow[] = [
  {
    type: BATCH_RECORDED_TYPE,
    producer: 'vehicle',
    consumers: ['device-communication'],
    id: 'vehicle/session/seq',
    route: 'http',
  },
  {
    type: eventType('campaign.changed.v1'),
    producer: 'campaign',
    consumers: [],
    id: 'campaign/version',
    route: 'broker',
  },
  {
    type: eventType('batch.stored.v1'),
    producer: 'device-communication',
    consumers: ['data-provider'],
    id: 'vehicle/session/seq',
    route: 'broker',
  },
  {
    type: PING_TYPE,
    producer: 'platform',
    consumers: ['data-provider'],
    id: 'made by PingSource',
    route: 'broker',
  },
  {
    type: eventType('window.ready.v1'),
    producer: 'data-provider',
    consumers: ['data-processing'],
    id: 'vehicle/session/window/revision',
    route: 'broker',
  },
  {
    type: eventType('session.closed.v1'),
    producer: 'data-provider',
    consumers: ['export'],
    id: 'vehicle/session/revision',
    route: 'broker',
  },
  {
    type: eventType('window.processed.v1'),
    producer: 'data-processing',
    consumers: ['export'],
    id: 'vehicle/session/window/revision/versions',
    route: 'broker',
  },
  {
    type: eventType('dataset.exported.v1'),
    producer: 'export',
    consumers: [],
    id: 'vehicle/session/window or "session"/revision',
    route: 'broker',
  },
];
