import { html } from './html.ts';
import { bytesText, countText } from './number-text.ts';
import type { Html } from './html.ts';
import type { ExportCard } from '#loadtest/ledger/ledger-fact.ts';

/** Sessions whose files are listed one by one; of more, only the sums are. */
const MAX_LISTED_SESSIONS = 10;

/** The complete data sets, by session, as links relative to the report. */
export function filesSection(exports: readonly ExportCard[], folder: string): Html {
  if (exports.length === 0)
    return html`<h2>Exported files</h2>
      <p>No session was completed.</p>`;
  const listed = exports.slice(0, MAX_LISTED_SESSIONS).map((card) => sessionFiles(card, folder));
  const rest = exports.slice(MAX_LISTED_SESSIONS);
  const more =
    rest.length === 0
      ? null
      : html`<p>
          And ${rest.length} more sessions with ${countText(fileCount(rest))} files
          (${bytesText(byteCount(rest))}).
        </p>`;
  return html`<h2>Exported files</h2>
    <p>
      One file a message; <code>recorded</code> holds every decoded frame, <code>raster</code> the
      resampled signals.
    </p>
    ${listed}${more}`;
}

const fileCount = (exports: readonly ExportCard[]): number =>
  exports.reduce((sum, { files }) => sum + files.length, 0);

const byteCount = (exports: readonly ExportCard[]): number =>
  exports.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0);

function sessionFiles(card: ExportCard, folder: string): Html {
  const files = [...card.files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const rows = files.map(({ path, rows, bytes }) => {
    const href = `${folder}/${path}`.split('/').map(encodeURIComponent).join('/');
    return html`<tr>
      <td class="path"><a href="${href}">${path}</a></td>
      <td class="n">${countText(rows)}</td>
      <td class="n">${bytesText(bytes)}</td>
    </tr>`;
  });
  const sums = `${countText(files.length)} files, ${bytesText(byteCount([card]))}`;
  return html`<details>
    <summary>${card.vehicle}, session ${card.session}: ${sums}</summary>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">file</th>
            <th scope="col" class="n">rows</th>
            <th scope="col" class="n">size</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`;
}
