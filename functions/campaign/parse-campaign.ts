import type { CampaignDefinition, CampaignSignal, RecordRule } from '#kernel/facts/campaign.ts';
import { isNamePart } from '#kernel/core/ids.ts';
import { CampaignReader, type ItemAt, type MapAt } from './campaign-reader.ts';
import { parseYamlText } from './yaml-text.ts';

/**
 * Limits of single values; what depends on several values or on the decoders: validate-campaign.ts.
 */
const MAX_SIGNALS = 10_000;
const MAX_VEHICLES = 10_000;
const MAX_RAW_IDS = 10_000;
const MAX_BUSES = 64;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MiB = 1_048_576;
/** 29 bits. */
const MAX_CAN_ID = 0x1fff_ffff;

const KINDS = ['homologation', 'fleet'] as const;

/** What `kind` decides where the campaign says nothing. */
const BY_KIND = {
  homologation: { rawFrames: 'all', everyMs: 10_000, whenFull: 'stopRecording' },
  fleet: { rawFrames: 'none', everyMs: 60_000, whenFull: 'dropOldest' },
} as const;

const ROOT_KEYS = [
  'id',
  'name',
  'description',
  'kind',
  'target',
  'window',
  'decoders',
  'signals',
  'rawFrames',
  'upload',
  'cache',
  'processing',
  'export',
] as const;

export interface ParsedCampaign {
  readonly id: string;
  readonly definition: CampaignDefinition;
  /** With faults in it, `id` and `definition` are not to be used. */
  readonly reader: CampaignReader;
}

/**
 * A campaign from YAML or JSON, with every default filled in. Never throws on bad input: the reader
 * holds the faults, each with its line and column.
 */
export function parseCampaign(bytes: Uint8Array): ParsedCampaign {
  const reader = new CampaignReader(parseYamlText(bytes));
  const root = reader.root(ROOT_KEYS);
  const id = reader.name(root, 'id', undefined);
  const kind = reader.choice(root, 'kind', 'homologation', KINDS);
  const decoders = readDecoders(reader, root);
  const upload = readUpload(reader, root, kind);
  const definition: CampaignDefinition = {
    name: reader.text(root, 'name', id, 100),
    description: reader.text(root, 'description', '', 2_048),
    kind,
    target: { vehicles: readVehicles(reader, reader.map(root, 'target', ['vehicles'])) },
    window: readWindow(reader, root),
    decoders,
    signals: readSignals(reader, root, Object.keys(decoders)),
    rawFrames: readRawFrames(reader, root, BY_KIND[kind].rawFrames),
    upload,
    cache: readCache(reader, root, kind),
    processing: readProcessing(reader, root, upload.everyMs),
    export: readExport(reader, root),
  };
  return { id, definition, reader };
}

function readVehicles(reader: CampaignReader, target: MapAt): readonly string[] | 'all' {
  const node = target.members.get('vehicles');
  const item = { node, path: 'target.vehicles' } as ItemAt;
  if (node === undefined || reader.plain(item) === 'all') return 'all';
  if (reader.plain(item) !== undefined) {
    reader.refuse(item, '"all" or a list of vehicles');
    return 'all';
  }
  const vehicles = (reader.list(target, 'vehicles', MAX_VEHICLES) ?? []).map((each) => {
    const name = reader.plain(each);
    if (!isNamePart(name)) reader.refuse(each, 'the name of a vehicle');
    return String(name);
  });
  if (vehicles.length === 0) reader.fault(item.path, 'target.vehicles is empty; use "all"');
  return [...new Set(vehicles)].sort();
}

function readWindow(reader: CampaignReader, root: MapAt): CampaignDefinition['window'] {
  const window = reader.map(root, 'window', ['startAt', 'endAt']);
  return { startAt: reader.instant(window, 'startAt'), endAt: reader.instant(window, 'endAt') };
}

function readDecoders(reader: CampaignReader, root: MapAt): Record<string, string> {
  const decoders: [bus: string, sha256: string][] = [];
  const entries = reader.entries(root, 'decoders');
  if (entries.length > MAX_BUSES) {
    reader.fault(
      'decoders',
      `decoders has ${entries.length} buses; at most ${MAX_BUSES} are allowed`,
    );
  }
  for (const [bus, item] of entries) {
    if (!isNamePart(bus))
      reader.fault(item.path, `${JSON.stringify(bus)} is not the name of a bus`);
    const decoder = reader.mapOfItem(item, ['sha256', 'dbc']);
    if (decoder.members.has('dbc')) {
      const remedy =
        'POST the file to /v1/decoders and write { sha256: … } ' +
        '("npx tachograph campaign start FILE" does both)';
      reader.fault(`${item.path}.dbc`, `${item.path} names a file of your machine; ${remedy}`);
      continue;
    }
    const sha256 = reader.text(decoder, 'sha256', '', 64);
    if (/^[0-9a-f]{64}$/.test(sha256)) decoders.push([bus, sha256]);
    else
      reader.fault(`${item.path}.sha256`, `${item.path}.sha256 must be 64 lower-case hex digits`);
  }
  return Object.fromEntries(decoders);
}

function readSignals(
  reader: CampaignReader,
  root: MapAt,
  buses: readonly string[],
): readonly CampaignSignal[] {
  const onlyBus = buses.length === 1 ? buses[0] : undefined;
  return (reader.list(root, 'signals', MAX_SIGNALS) ?? []).map((item) => {
    const signal = reader.mapOfItem(item, ['name', 'bus', 'record']);
    const name = reader.text(signal, 'name', '', 200);
    if (!/^[^.\s]+\.[^.\s]+$/.test(name)) {
      const path = `${item.path}.name`;
      reader.fault(path, `${path} = ${JSON.stringify(name)} must be "Message.Signal"`);
    }
    return { name, bus: reader.name(signal, 'bus', onlyBus), record: readRule(reader, signal) };
  });
}

/**
 * `all` (also left out), `{ all: true }`, `{ everyMs: 100 }` or `{ onChange: { deadband: 0.5 } }`.
 */
function readRule(reader: CampaignReader, signal: MapAt): RecordRule {
  const node = signal.members.get('record');
  const item = { node, path: `${signal.path}.record` } as ItemAt;
  if (node === undefined || reader.plain(item) === 'all') return { all: true };
  const allowed = 'all, { everyMs: NUMBER } or { onChange: { deadband: NUMBER } }';
  if (reader.plain(item) !== undefined) {
    reader.refuse(item, allowed);
    return { all: true };
  }
  const rule = reader.map(signal, 'record', ['all', 'everyMs', 'onChange']);
  if (rule.members.size > 1) reader.fault(rule.path, `${rule.path} must be only one: ${allowed}`);
  if (rule.members.has('everyMs')) {
    return { everyMs: reader.integer(rule, 'everyMs', 1, { min: 1, max: HOUR_MS, unit: 'ms' }) };
  }
  if (rule.members.has('onChange')) {
    const change = reader.map(rule, 'onChange', ['deadband']);
    const bounds = { min: 0, max: Number.MAX_VALUE };
    return { onChange: { deadband: reader.number(change, 'deadband', 0, bounds) } };
  }
  const all = { node: rule.members.get('all'), path: `${rule.path}.all` } as ItemAt;
  if (all.node === undefined) reader.refuse(item, allowed);
  else if (reader.plain(all) !== true) reader.refuse(all, 'true');
  return { all: true };
}

function readRawFrames(
  reader: CampaignReader,
  root: MapAt,
  fallback: 'all' | 'none',
): CampaignDefinition['rawFrames'] {
  const node = root.members.get('rawFrames');
  if (node === undefined) return fallback;
  const item = { node, path: 'rawFrames' };
  const value = reader.plain(item);
  if (value === 'all' || value === 'none') return value;
  if (value !== undefined) {
    reader.refuse(item, 'all, none or a list of { bus, id }');
    return fallback;
  }
  return (reader.list(root, 'rawFrames', MAX_RAW_IDS) ?? []).map((each) => {
    const pair = reader.mapOfItem(each, ['bus', 'id']);
    return {
      bus: reader.name(pair, 'bus', undefined),
      id: reader.integer(pair, 'id', undefined, { min: 0, max: MAX_CAN_ID }),
    };
  });
}

function readUpload(
  reader: CampaignReader,
  root: MapAt,
  kind: CampaignDefinition['kind'],
): CampaignDefinition['upload'] {
  const upload = reader.map(root, 'upload', ['everyMs', 'maxBatchBytes']);
  const every = { min: 100, max: DAY_MS, unit: 'ms' };
  return {
    everyMs: reader.integer(upload, 'everyMs', BY_KIND[kind].everyMs, every),
    maxBatchBytes: reader.integer(upload, 'maxBatchBytes', MiB, { min: 1_024, max: MiB }),
  };
}

function readCache(
  reader: CampaignReader,
  root: MapAt,
  kind: CampaignDefinition['kind'],
): CampaignDefinition['cache'] {
  const cache = reader.map(root, 'cache', ['maxBytes', 'whenFull']);
  const choices = ['stopRecording', 'dropOldest', 'dropNewest'] as const;
  return {
    maxBytes: reader.integer(cache, 'maxBytes', 64 * MiB, { min: MiB, max: 1_048_576 * MiB }),
    whenFull: reader.choice(cache, 'whenFull', BY_KIND[kind].whenFull, choices),
  };
}

function readProcessing(
  reader: CampaignReader,
  root: MapAt,
  everyMs: number,
): CampaignDefinition['processing'] {
  const keys = ['windowMs', 'graceMs', 'abandonAfterMs', 'resample'];
  const processing = reader.map(root, 'processing', keys);
  const resample = reader.map(processing, 'resample', ['rasterMs', 'method', 'maxHoldMs']);
  const ms = (min: number, max: number) => ({ min, max, unit: 'ms' });
  return {
    windowMs: reader.integer(processing, 'windowMs', everyMs, ms(100, DAY_MS)),
    graceMs: reader.integer(processing, 'graceMs', 30_000, ms(0, DAY_MS)),
    abandonAfterMs: reader.integer(processing, 'abandonAfterMs', 600_000, ms(1_000, 30 * DAY_MS)),
    resample: {
      rasterMs: reader.integer(resample, 'rasterMs', 100, ms(1, HOUR_MS)),
      method: reader.choice(resample, 'method', 'hold', ['hold', 'linear']),
      maxHoldMs: reader.integer(resample, 'maxHoldMs', 500, ms(0, 600_000)),
    },
  };
}

function readExport(reader: CampaignReader, root: MapAt): CampaignDefinition['export'] {
  const at = reader.map(root, 'export', ['formats', 'values']);
  const known = ['parquet', 'csv'] as const;
  const listed = reader.list(at, 'formats', known.length)?.map((item) => {
    const value = reader.plain(item);
    if (!known.some((format) => format === value)) reader.refuse(item, 'parquet or csv');
    return value;
  });
  if (listed?.length === 0) reader.fault('export.formats', 'export.formats is empty');
  return {
    formats: listed === undefined ? known : known.filter((format) => listed.includes(format)),
    values: reader.choice(at, 'values', 'physical', ['physical', 'raw']),
  };
}
