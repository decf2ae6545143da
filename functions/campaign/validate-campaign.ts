import { MAX_CELLS } from '#kernel/columns/block-format.ts';
import type { Database, Message } from '#kernel/dbc/model.ts';
import type { CampaignDefinition, CampaignSignal } from '#kernel/facts/campaign.ts';
import { nearestNames } from '#kernel/core/nearest-names.ts';

/** Called with the path of what is wrong (`signals[3].name`) and what and why. */
export type ReportFault = (path: string, message: string) => void;

/** A batch may span so many windows, and a window so many batches. */
const MAX_SPAN = 1_000;
/** A window reads back at most so many batches for values to hold. */
const MAX_READ_BACK = 100;
/** Looking for names alike takes a while: only the first unknown ones get suggestions. */
const MAX_SUGGESTIONS = 20;

/** Bus → its parsed DBC, for the buses whose DBC is stored. */
export type Databases = ReadonlyMap<string, Database>;

/** What can only be judged from several values, or against the decoders. */
export function validateCampaign(
  definition: CampaignDefinition,
  databases: Databases,
  nowMs: number,
  report: ReportFault,
): void {
  validateTimes(definition, nowMs, report);
  validateGrid(definition, report);
  validateRaster(definition, databases, report);
  for (const [bus, sha256] of Object.entries(definition.decoders)) {
    if (databases.has(bus)) continue;
    report(
      `decoders.${bus}`,
      `No decoder with the SHA-256 ${sha256} is stored; POST the DBC to /v1/decoders first`,
    );
  }
  validateSignals(definition, databases, report);
  const { decoders, signals, rawFrames } = definition;
  const hasNothing = rawFrames === 'none' || rawFrames.length === 0;
  if (hasNothing && signals.length === 0 && Object.keys(decoders).length === 0) {
    report('', 'The campaign records nothing; give decoders, or rawFrames');
  }
}

function validateTimes({ window }: CampaignDefinition, nowMs: number, report: ReportFault): void {
  const { startAt, endAt } = window;
  if (endAt === null) return;
  if (Date.parse(endAt) <= nowMs) {
    const now = new Date(nowMs).toISOString();
    report('window.endAt', `window.endAt = ${endAt} is past; use a time after ${now}`);
  } else if (startAt !== null && Date.parse(startAt) >= Date.parse(endAt)) {
    report('window.endAt', `window.endAt = ${endAt} must be after window.startAt = ${startAt}`);
  }
}

/** How batches and windows fit into each other. */
function validateGrid({ upload, processing }: CampaignDefinition, report: ReportFault): void {
  const { everyMs } = upload;
  const { windowMs, graceMs, abandonAfterMs } = processing;
  const at = 'processing.windowMs';
  if (windowMs % everyMs !== 0 && everyMs % windowMs !== 0) {
    const remedy = `use a multiple or a divisor of it, like ${Math.max(1, Math.round(windowMs / everyMs)) * everyMs}`;
    report(at, `${at} = ${windowMs} does not fit upload.everyMs = ${everyMs}; ${remedy}`);
  } else if (Math.max(windowMs / everyMs, everyMs / windowMs) > MAX_SPAN) {
    const why = `more than ${MAX_SPAN} times apart`;
    report(at, `${at} = ${windowMs} and upload.everyMs = ${everyMs} are ${why}`);
  }
  if (abandonAfterMs < graceMs) {
    report(
      'processing.abandonAfterMs',
      `processing.abandonAfterMs = ${abandonAfterMs} must be at least processing.graceMs = ${graceMs}`,
    );
  }
}

function validateRaster(
  { upload, processing, signals }: CampaignDefinition,
  databases: Databases,
  report: ReportFault,
): void {
  const { windowMs, resample } = processing;
  const { rasterMs, maxHoldMs } = resample;
  if (rasterMs > windowMs) {
    const path = 'processing.resample.rasterMs';
    report(path, `${path} = ${rasterMs} must be at most the window of ${windowMs} ms`);
  }
  const columns = signals.length > 0 ? signals.length : signalCount(databases);
  const cells = Math.ceil(windowMs / rasterMs) * (columns + 1);
  if (cells > MAX_CELLS) {
    report(
      'processing.windowMs',
      `A window would hold ${cells} raster cells, at most ${MAX_CELLS} fit; use a shorter window or a wider raster`,
    );
  }
  if (maxHoldMs > MAX_READ_BACK * upload.everyMs) {
    const path = 'processing.resample.maxHoldMs';
    const most = `${MAX_READ_BACK} batches (${MAX_READ_BACK * upload.everyMs} ms)`;
    report(path, `${path} = ${maxHoldMs} reads back more than ${most}; use less`);
  }
}

function signalCount(databases: Databases): number {
  let count = 0;
  for (const { messages } of databases.values()) {
    for (const { signals } of messages) count += signals.length;
  }
  return count;
}

function validateSignals(
  { signals, decoders }: CampaignDefinition,
  databases: Databases,
  report: ReportFault,
): void {
  const messages = new Map(
    [...databases].map(([bus, database]) => [bus, messagesBySignal(database)] as const),
  );
  const seen = new Set<string>();
  let suggestions = MAX_SUGGESTIONS;
  for (const [index, signal] of signals.entries()) {
    const path = `signals[${index}]`;
    const key = `${signal.bus}/${signal.name}`;
    if (seen.has(key)) report(path, `${signal.name} on ${signal.bus} is listed twice`);
    seen.add(key);
    const known = messages.get(signal.bus);
    if (known === undefined) {
      // A decoder that is named and not stored has its own fault.
      if (decoders[signal.bus] === undefined)
        report(`${path}.bus`, withoutDecoder(signal, decoders));
      continue;
    }
    const message = known.get(signal.name);
    if (message !== undefined) validateRule(signal, message, path, report);
    else {
      const names = suggestions-- > 0 ? nearestNames(signal.name, known.keys(), 3) : [];
      const remedy = names.length === 0 ? '' : `; did you mean ${names.join(', ')}?`;
      report(`${path}.name`, `The DBC of ${signal.bus} has no signal ${signal.name}${remedy}`);
    }
  }
}

function withoutDecoder(signal: CampaignSignal, decoders: CampaignDefinition['decoders']): string {
  const buses = Object.keys(decoders);
  const known = buses.length === 0 ? 'none has one' : `these have one: ${buses.join(', ')}`;
  return `The bus ${signal.bus} of ${signal.name} has no decoder; ${known}`;
}

function validateRule(
  { record, name }: CampaignSignal,
  { cycleMs }: Message,
  path: string,
  report: ReportFault,
): void {
  if (!('everyMs' in record) || cycleMs === undefined || record.everyMs >= cycleMs) return;
  const remedy = `use ${cycleMs} or more, or all`;
  report(
    `${path}.record.everyMs`,
    `${name} every ${record.everyMs} ms is faster than its message, sent every ${cycleMs} ms; ${remedy}`,
  );
}

/** `Message.Signal` → its message. */
export function messagesBySignal(database: Database): ReadonlyMap<string, Message> {
  const messages = new Map<string, Message>();
  for (const message of database.messages) {
    for (const { name } of message.signals) messages.set(`${message.name}.${name}`, message);
  }
  return messages;
}
