import type { ClusterStatus } from '#infra/local/cluster.ts';
import type { ScalingStatus } from '#infra/local/autoscaling/autoscaler.ts';

/** A table of a Service's state, one line each; widths are those of the widest cell. */
const HEAD = [
  'stage',
  'policy',
  'ready',
  'wanted',
  'starting',
  'draining',
  'req/s',
  'inside',
  'queued',
  'backlog',
  'path',
] as const;

const MAX_REASON = 96;

/** What `watch` shows: the stages as a table, and below it why each has the replicas it has. */
export function watchLines(status: ClusterStatus, atText: string): string[] {
  const rows = Object.entries(status.scaling).map(([name, scaling]) => cells(name, scaling));
  const table = [[...HEAD], ...rows];
  const widths = HEAD.map((_, column) =>
    Math.max(...table.map((row) => (row[column] ?? '').length)),
  );
  const lines = table.map((row) =>
    row
      .map((cell, column) =>
        // Names to the left, figures to the right.
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const reasons = Object.entries(status.scaling).flatMap(([name, { reason }]) =>
    reason === '' ? [] : [`  ${name}: ${shortened(reason)}`],
  );
  return [`${atText}  ${status.gatewayUrl}`, '', ...lines, '', 'Last decisions', ...reasons];
}

function cells(name: string, scaling: ScalingStatus): string[] {
  return [
    name,
    scaling.panicking ? `${scaling.policy} PANIC` : scaling.policy,
    String(scaling.ready),
    String(scaling.desired),
    String(scaling.starting),
    String(scaling.draining),
    String(scaling.offeredPerS),
    scaling.concurrency.toFixed(1),
    String(scaling.queued),
    scaling.backlog === null ? '-' : String(scaling.backlog),
    scaling.path === 'proxy' ? 'activator' : 'direct',
  ];
}

const shortened = (text: string): string =>
  text.length <= MAX_REASON ? text : `${text.slice(0, MAX_REASON - 1)}…`;
