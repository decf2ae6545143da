import { type EventData, type EventName, eventType } from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { encodeTables } from '#kernel/columns/encode-tables.ts';
import type { StoredTable } from '#kernel/columns/stored-table.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { batchId, campaignId, resultId, sessionId, windowId } from '#kernel/core/ids.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';
import type { ReceiptFact, ResultFact, SessionFact, WindowFact } from '#kernel/facts/facts.ts';
import type { Emission, StageContext } from '#kernel/runtime/stage.ts';
import type { Store } from '#kernel/store/store.ts';
import { silentLog } from '#kernel/system/log.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { columnOf, tableOf } from './tables.ts';
import { exampleDefinition } from '#kernel/facts/testing/example-campaign.ts';

export const VEHICLE = 'v1';
export const SESSION = 's1';
const VERSIONS = 'abc';
export const START_US = 1_700_000_000_000_000;
const WINDOW_US = 1_000_000;

const DBC = Buffer.from(`VERSION ""
BU_: ECU
BO_ 100 MOTION: 8 ECU
 SG_ COUNT : 0|8@1+ (1,0) [0|0] "" ECU
 SG_ SPEED : 8|16@1+ (0.01,0) [0|0] "km/h" ECU
 SG_ GEAR : 24|2@1+ (1,0) [0|3] "" ECU
BO_ 200 ODO: 8 ECU
 SG_ DISTANCE : 0|64@1+ (1,0) [0|0] "m" ECU
VAL_ 100 GEAR 0 "P" 1 "D" ;
`);
export const DBC_SHA256 = sha256Hex(DBC);

const DEFINITION = exampleDefinition({
  decoders: { can0: DBC_SHA256 },
  export: { formats: ['parquet', 'csv'], values: 'physical' },
});

export async function insertCampaign(
  store: Store,
  change: Partial<CampaignDefinition['export']> = {},
): Promise<void> {
  const definition = { ...DEFINITION, export: { ...DEFINITION.export, ...change } };
  const fact = { campaign: 'c1', version: 3, state: 'running' as const, definition };
  await store.insert('campaigns', campaignId('c1', 3), {
    ...fact,
    definitionSha256: sha256Hex(JSON.stringify(definition)),
    createdAtMs: 0,
    by: 'engineer',
  });
  await store.insert('decoders', DBC_SHA256, {
    sha256: DBC_SHA256,
    name: 'test.dbc',
    bytes: DBC,
    createdAtMs: 0,
  });
}

/** Batch `seq` covers window `seq`. Its clock pair drifts: only the first one counts. */
export async function insertReceipt(
  store: Store,
  seq: number,
  change: Partial<ReceiptFact> = {},
): Promise<void> {
  const fact: ReceiptFact = {
    vehicle: VEHICLE,
    session: SESSION,
    seq,
    campaign: 'c1',
    campaignVersion: 3,
    fromUs: seq * WINDOW_US,
    untilUs: (seq + 1) * WINDOW_US,
    firstUs: seq * WINDOW_US,
    lastUs: seq * WINDOW_US + 500_000,
    frames: 4,
    unsortedFrames: 0,
    seen: 5,
    matched: 5,
    recordedByVehicle: 4,
    dropped: { bufferFull: 1 },
    clock: {
      monotonicUs: seq * WINDOW_US,
      wallUs: START_US + seq * (WINDOW_US + 7),
      source: 'gnss',
    },
    end: false,
    flags: [],
    sha256: sha256Hex(`batch ${seq}`),
    bodyBytes: 100,
    receivedAtMs: 1_000 + seq,
    ...change,
  };
  await store.insert('receipts', batchId(VEHICLE, SESSION, seq), { ...fact });
}

export interface WindowContent {
  readonly recorded: readonly StoredTable[];
  readonly raster: readonly StoredTable[];
}

/** Two rows of MOTION, one of ODO in even windows, two raster rows; `salt` changes the values. */
export function windowContent(window: number, salt = 0): WindowContent {
  const at = window * WINDOW_US;
  const motion = tableOf(
    [at + 10, at + 500_000],
    [
      columnOf('COUNT', [window % 256, (window + salt) % 256]),
      columnOf('SPEED', [100 * window, null], { bitLength: 16, factor: 0.01, unit: 'km/h' }),
      columnOf('GEAR', [1, 1], { bitLength: 2 }),
    ],
  );
  const distance = columnOf('DISTANCE', [2n ** 63n + BigInt(window)], { bitLength: 64, unit: 'm' });
  const message = { name: 'ODO', id: 200, extended: false };
  const odo = tableOf([at + 20], [distance], { message });
  return {
    recorded: window % 2 === 0 ? [motion, odo] : [motion],
    raster: [{ ...motion, timeUs: Float64Array.of(at, at + 500_000) }],
  };
}

/** A closed window and its result. */
export async function insertWindow(
  store: Store,
  window: number,
  revision = 1,
  content = windowContent(window),
): Promise<void> {
  await insertWindowFact(store, window, revision);
  await insertResult(store, window, revision, content);
}

export async function insertWindowFact(store: Store, window: number, revision = 1) {
  const fact: WindowFact = {
    vehicle: VEHICLE,
    session: SESSION,
    window,
    revision,
    campaign: 'c1',
    campaignVersion: 3,
    fromUs: window * WINDOW_US,
    untilUs: (window + 1) * WINDOW_US,
    seqs: [window],
    ownSeqs: [window],
    gaps: [],
    reason: revision === 1 ? 'covered' : 'late',
    closedBy: `event ${window}/${revision}`,
  };
  await store.insert('windows', windowId(VEHICLE, SESSION, window, revision), { ...fact });
}

export async function insertResult(
  store: Store,
  window: number,
  revision = 1,
  content = windowContent(window),
): Promise<void> {
  const frames = content.recorded.reduce((sum, table) => sum + table.timeUs.length, 0);
  const fact: ResultFact = {
    vehicle: VEHICLE,
    session: SESSION,
    window,
    revision,
    versions: VERSIONS,
    campaign: 'c1',
    campaignVersion: 3,
    batches: [batchId(VEHICLE, SESSION, window)],
    dbc: { can0: DBC_SHA256 },
    software: 'tachograph/0.0.0',
    fromUs: window * WINDOW_US,
    untilUs: (window + 1) * WINDOW_US,
    frames: {
      recorded: frames + 1,
      decoded: frames,
      unknownId: 1,
      noData: 0,
      truncated: 0,
      unknownSelector: 0,
      longer: 0,
      unknownIds: [{ bus: 'can0', id: 999, extended: false, frames: 1 }],
      unknownSelectors: [],
    },
    unsortedFrames: 0,
    duplicateFrames: 0,
    quality: ['COUNT', 'GEAR'].map((signal) => ({
      bus: 'can0',
      message: 'MOTION',
      signal,
      samples: 2,
      outOfRange: 1,
      notAvailable: 0,
      constant: true,
    })),
    recorded: encodeTables(content.recorded, 'gzip'),
    raster: encodeTables(content.raster, 'gzip'),
    samples: frames,
  };
  const id = resultId(VEHICLE, SESSION, window, revision, VERSIONS);
  await store.insert('results', id, { ...fact });
}

/** Closes the session over windows 0 … at their given revisions. */
export async function insertSession(
  store: Store,
  windowRevisions: readonly number[],
  revision = 1,
  change: Partial<SessionFact> = {},
): Promise<void> {
  const fact: SessionFact = {
    vehicle: VEHICLE,
    session: SESSION,
    revision,
    campaign: 'c1',
    campaignVersion: 3,
    reason: 'endMark',
    batches: windowRevisions.length,
    frames: 4 * windowRevisions.length,
    firstSeq: 0,
    lastSeq: windowRevisions.length - 1,
    gaps: [],
    dropped: {},
    windows: windowRevisions.map((each, window) => ({ window, revision: each })),
    closedBy: `event ${revision}`,
    ...change,
  };
  await store.insert('sessions', sessionId(VEHICLE, SESSION, revision), { ...fact });
}

/** A session of `count` windows, complete and not closed. */
export async function insertRecording(store: Store, count: number): Promise<void> {
  await insertCampaign(store);
  for (let seq = 0; seq < count; seq++) {
    await insertReceipt(store, seq);
    await insertWindow(store, seq);
  }
}

export interface TestContext extends StageContext {
  readonly emitted: Emission[];
}

/** `emit` may be told to fail once, as a broker that is away does. */
export function testContext(store: Store, failEmit: () => boolean = () => false): TestContext {
  const emitted: Emission[] = [];
  return {
    clock: new VirtualClock(),
    store,
    log: silentLog,
    software: 'tachograph/0.0.0',
    emitted,
    emit: async (emission) => {
      if (failEmit()) throw new Error('the broker is away');
      emitted.push(emission);
    },
  };
}

export function eventOf<N extends EventName>(name: N, data: EventData[N]): CloudEvent {
  return {
    id: `test/${name}`,
    source: '/tachograph/test',
    type: eventType(name),
    datacontenttype: 'application/json',
    extensions: {},
    data: Buffer.from(JSON.stringify(data)),
  };
}

export const windowEvent = (window: number, revision = 1): CloudEvent =>
  eventOf('window.processed.v1', {
    vehicle: VEHICLE,
    session: SESSION,
    window,
    revision,
    versions: VERSIONS,
  });

export const sessionEvent = (revision = 1): CloudEvent =>
  eventOf('session.closed.v1', { vehicle: VEHICLE, session: SESSION, revision });
