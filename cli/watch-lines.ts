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

const WIDTH = 100;

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
    reason === '' ? [] : wrapped(`${name}: ${reason}`),
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

/** The verdict stands at the end of a reason: nothing of it is cut off. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = ' ';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > WIDTH && line.trim() !== '') {
      lines.push(line);
      line = '     ';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
