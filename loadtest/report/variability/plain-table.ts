import { html, type Html, type Insertable } from '../html.ts';

export interface PlainTable {
  readonly caption: string;
  /** The first column names the row, all others are numbers. */
  readonly heads: readonly string[];
  readonly rows: readonly (readonly Insertable[])[];
  /** So many columns at the left are words. */
  readonly words?: number;
}

export function plainTable({ caption, heads, rows, words = 1 }: PlainTable): Html {
  const kind = (column: number): string => (column < words ? '' : 'n');
  return html`<div class="scroll">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${heads.map((head, column) => html`<th scope="col" class="${kind(column)}">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, column) =>
                column === 0
                  ? html`<th scope="row">${cell}</th>`
                  : html`<td class="${kind(column)}">${cell}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
