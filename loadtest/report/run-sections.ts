import { quantilesOf } from '#loadtest/results/quantiles.ts';
import { html } from './html.ts';
import { bytesText, countText, durationText } from './number-text.ts';
import type { Html } from './html.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { RunConfig, RunOutcome } from '#loadtest/results/run-records.ts';
import type { StageSummary, Summary } from '#loadtest/results/summary.ts';

/** One row a vehicle: what it sent, what came out, how long that took. */
export function vehiclesSection(records: readonly BatchRecord[]): Html {
  const vehicles = new Map<string, BatchRecord[]>();
  for (const record of records) {
    const known = vehicles.get(record.vehicle);
    if (known === undefined) vehicles.set(record.vehicle, [record]);
    else known.push(record);
  }
  const rows = [...vehicles].map(([vehicle, own]) => {
    const exported = own.flatMap(({ exportedMs, intendedMs }) =>
      exportedMs === null ? [] : [exportedMs - intendedMs],
    );
    const { p50, p95, max } = quantilesOf(exported);
    const frames = own.reduce((sum, record) => sum + record.frames, 0);
    const bytes = own.reduce((sum, record) => sum + record.bytes, 0);
    const stored = own.filter(({ outcome }) => outcome === 'stored').length;
    return html`<tr>
      <th scope="row">${vehicle}</th>
      <td>${own[0]?.session ?? ''}</td>
      <td class="n">${countText(own.length)}</td>
      <td class="n">${countText(stored)}</td>
      <td class="n">${countText(exported.length)}</td>
      <td class="n">${countText(frames)}</td>
      <td class="n">${bytesText(bytes)}</td>
      <td class="n">${durationText(p50)}</td>
      <td class="n">${durationText(p95)}</td>
      <td class="n">${durationText(max)}</td>
    </tr>`;
  });
  const heads = ['sent', 'acknowledged', 'exported', 'frames', 'uploaded', 'p50', 'p95', 'max'];
  return html`<h2>Vehicles</h2>
    <div class="scroll">
      <table>
        <caption>
          Batches, and their latency from the intended time to the first announcement of files that
          hold them: their window's or their session's
        </caption>
        <thead>
          <tr>
            <th scope="col">vehicle</th>
            <th scope="col">session</th>
            ${heads.map((head) => html`<th scope="col" class="n">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

/** What the broker and the operating system saw of each stage. */
export function stagesSection(stages: Summary['stages']): Html {
  const known = (value: number | null): string => (value === null ? '–' : countText(value));
  const rows = Object.entries(stages)
    .filter((entry): entry is [string, StageSummary] => 'cpuMs' in entry[1])
    .map(([name, { delivered, retried, deadLettered, redelivered, cpuMs }]) => {
      const counts = [delivered, retried, redelivered, deadLettered];
      return html`<tr>
        <th scope="row">${name}</th>
        ${counts.map((count) => html`<td class="n">${known(count)}</td>`)}
        <td class="n">${durationText(cpuMs)}</td>
      </tr>`;
    });
  const heads = ['events taken', 'retried', 'redelivered', 'dead letters', 'CPU time'];
  return html`<h2>Stages</h2>
    <div class="scroll">
      <table>
        <caption>
          By the count of the broker and the operating system (– = not known, or no Trigger)
        </caption>
        <thead>
          <tr>
            <th scope="col">stage</th>
            ${heads.map((head) => html`<th scope="col" class="n">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

/** The recorded drive, where there was one. */
function driveRows(config: RunConfig): readonly (readonly [string, string])[] {
  if (config.kind !== 'Demo') return [];
  const { path, frames, faults, sha256 } = config.drive;
  return [
    ['drive', `${path} (${countText(frames)} frames)`],
    ['unreadable lines of the drive', countText(faults)],
    ['drive SHA-256', sha256],
  ];
}

/** Whether limits of replicas held: figures of two machines compare only where they agree. */
function limitRows(enforcement: RunOutcome['enforcement']): readonly (readonly [string, string])[] {
  if (enforcement === undefined) return [];
  const { cpu, memory, why } = enforcement;
  const kept = cpu === 'none' ? `not enforced (${why})` : `enforced by ${cpu}`;
  return [
    ['CPU limits of replicas', kept],
    ['memory limits of replicas', memory === 'none' ? 'not enforced' : memory],
  ];
}

/** What the stages were told to consume: delay and little CPU, or a quota, so that replicas fit the cores. */
function demandRows(config: RunConfig): readonly (readonly [string, string])[] {
  if (config.kind !== 'Run') return [];
  return Object.entries(config.experiment?.stages ?? {}).flatMap(([stage, settings]) => {
    const { demand, resources } = settings;
    const quota = resources?.cpuLimit;
    return [
      ...(demand === undefined ? [] : [[`demand of ${stage}`, demand] as const]),
      ...(quota === undefined ? [] : [[`CPU limit of ${stage}`, `${quota} cores`] as const]),
    ];
  });
}

/** What was asked for and where it ran. */
export function environmentSection(
  summary: Summary,
  config: RunConfig,
  { enforcement }: RunOutcome,
): Html {
  const { environment } = summary;
  const { definition, campaign, version } = config.campaign;
  const commit =
    environment.gitCommit === null
      ? 'not known'
      : `${environment.gitCommit}${environment.gitDirty === true ? ', with changes' : ''}`;
  const rows: readonly (readonly [string, string])[] = [
    ...driveRows(config),
    ['campaign', `${campaign}, version ${version}: ${definition.name}`],
    ['upload period', durationText(definition.upload.everyMs)],
    ['window', durationText(definition.processing.windowMs)],
    ['seed', String(config.seed)],
    ['CPU', `${environment.cpuModel}, ${environment.cores} cores`],
    ['memory', bytesText(environment.memoryBytes)],
    ['system', environment.os],
    ['Node', environment.node],
    ['nats-server', environment.natsServer ?? 'not known'],
    ['commit', commit],
    ...limitRows(enforcement),
    ...demandRows(config),
  ];
  return html`<h2>Environment</h2>
    <div class="scroll">
      <table>
        <tbody>
          ${rows.map(
            ([name, value]) =>
              html`<tr>
                <th scope="row">${name}</th>
                <td class="path">${value}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
