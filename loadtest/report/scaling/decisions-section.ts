import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { significant } from '#loadtest/report/number-text.ts';

type Row = Extract<DecisionRow, { kind: 'decision' }>;

/** Changes shown for each stage; the rest stands in decisions.ndjson. */
const MAX_SHOWN = 60;

/** Decisions that changed something: replicas wanted, panic, or the way of requests. */
export function changes(rows: readonly Row[]): readonly Row[] {
  let last: Row | undefined;
  return rows.filter((row) => {
    const before = last?.decision;
    const { desired, panicking, path } = row.decision;
    const same =
      before !== undefined &&
      (desired === null || desired === before.desired) &&
      panicking === before.panicking &&
      path === before.path;
    if (!same) last = row;
    return !same;
  });
}

/** Why each stage had the replicas it had. */
export function decisionsSection(rows: readonly Row[], fromMs: number): Html {
  const stages = [...Map.groupBy(rows, ({ service }) => service)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return html`<h2>Decisions</h2>
    <p class="soft">
      Those that changed something; every one, with all it was made from, stands in
      <code>decisions.ndjson</code>.
    </p>
    ${stages.map(([stage, own]) => stageDecisions(stage, own, fromMs))}`;
}

function stageDecisions(stage: string, rows: readonly Row[], fromMs: number): Html {
  const changed = changes(rows);
  const shown = changed.slice(0, MAX_SHOWN);
  const more = changed.length - shown.length;
  return html`<details>
    <summary>
      ${stage}: ${rows.length} decisions, ${changed.length} of them changed something
    </summary>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col" class="n">at</th>
            <th scope="col" class="n">wanted</th>
            <th scope="col" class="n">ready</th>
            <th scope="col">reason</th>
            <th scope="col">limits</th>
            <th scope="col">figures</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map((row) => decisionRow(row, fromMs))}
        </tbody>
      </table>
    </div>
    ${more > 0 ? html`<p class="soft">and ${more} more</p>` : null}
  </details>`;
}

function decisionRow({ atMs, decision, observation }: Row, fromMs: number): Html {
  const figures = Object.entries(decision.details)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? figure(value) : String(value)}`)
    .join(', ');
  const wanted = decision.desired === null ? 'no change' : String(decision.desired);
  return html`<tr>
    <td class="n">${significant((atMs - fromMs) / 1_000)} s</td>
    <td class="n">${wanted}</td>
    <td class="n">${observation.ready}</td>
    <td>${decision.panicking ? 'panic: ' : ''}${decision.reason}</td>
    <td>${decision.limits.join(', ')}</td>
    <td class="soft">${figures}</td>
  </tr>`;
}

const figure = (value: number): string =>
  Number.isInteger(value) ? String(value) : significant(value);
