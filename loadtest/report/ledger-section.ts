import { html } from './html.ts';
import { countText } from './number-text.ts';
import type { Html } from './html.ts';
import type { Ledger } from '#loadtest/ledger/account.ts';

/** What each number of the account counts, for the reader who sees it for the first time. */
const MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  batches: {
    sent: 'cut by the vehicles',
    refused: 'answered 4xx',
    unresolved: 'without a verdict, not in the store',
    stored: 'in the store',
    inWindows: 'in a closed window',
    waiting: 'in no window yet',
    duplicates: 'sent again although stored',
    reordered: 'came after a later one',
  },
  windows: {
    closed: 'newest revisions',
    processed: 'decoded and stored',
    parked: 'set aside with a reason',
    pendingProcessing: 'not processed yet',
    exported: 'written as files',
    exportedWithSession: "part of exported: only in the session's files",
    pendingExport: 'not exported yet',
  },
  frames: {
    recorded: 'in the stored batches',
    decoded: 'of a message of the DBC',
    unknownId: 'of no message of the DBC',
    unknownSelector: 'part of decoded',
    noData: 'remote and error frames',
    truncated: 'part of decoded: too short',
    unprocessed: 'in windows without a result',
    droppedByVehicle: 'not recorded: cache full',
  },
};

/** The account as tables, its equations with a tick each. */
export function ledgerSection({ account, identities }: Ledger): Html {
  const tables = (['batches', 'windows', 'frames'] as const).map((what) =>
    countTable(what, account[what]),
  );
  const equations = identities.map(
    ({ name, left, right, holds }) =>
      html`<tr>
        <td>${mark(holds)}</td>
        <td>${name}</td>
        <td class="n">${countText(left)}</td>
        <td class="n">${countText(right)}</td>
      </tr>`,
  );
  const gaps = account.gaps.map(
    ({ vehicle, session, firstSeq, lastSeq, planned }) =>
      html`<li>
        ${vehicle}/${session}: batches ${firstSeq} to ${lastSeq}${planned ? ' (planned)' : ''}
      </li>`,
  );
  return html`<h2>Ledger</h2>
    <div class="scroll">
      <table>
        <caption>
          Equations that must hold
        </caption>
        <thead>
          <tr>
            <th scope="col">holds</th>
            <th scope="col">equation</th>
            <th scope="col" class="n">left</th>
            <th scope="col" class="n">right</th>
          </tr>
        </thead>
        <tbody>
          ${equations}
        </tbody>
      </table>
    </div>
    <div class="ledgers">${tables}</div>
    ${
      gaps.length === 0
        ? html`<p>No gap in any session.</p>`
        : html`<p>Gaps:</p>
            <ul>
              ${gaps}
            </ul>`
    }`;
}

const mark = (holds: boolean): Html =>
  holds ? html`<span class="good">✓ yes</span>` : html`<strong class="bad">✗ no</strong>`;

function countTable(what: string, counts: object): Html {
  const rows = Object.entries(counts as Record<string, number>).map(
    ([name, count]) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td class="n">${countText(count)}</td>
        <td class="soft">${MEANINGS[what]?.[name] ?? ''}</td>
      </tr>`,
  );
  return html`<div class="scroll">
    <table>
      <caption>
        ${what}
      </caption>
      <thead>
        <tr>
          <th scope="col">count</th>
          <th scope="col" class="n">${what}</th>
          <th scope="col">meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}
