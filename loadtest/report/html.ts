/**
 * HTML and SVG text that is safe by construction: what is put into a template is escaped unless it is
 * itself the outcome of one. Vehicle ids, problems and signal names come from outside.
 */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Insertable = Html | string | number | null | readonly Insertable[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char);

function inserted(value: Insertable): string {
  if (value instanceof Html) return value.text;
  if (value === null) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return value.map(inserted).join('');
}

/** html`<td>${value}</td>`: strings and numbers are escaped, lists are joined, null is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Insertable[]): Html {
  const text = parts.map((part, index) => part + inserted(values[index] ?? null)).join('');
  return new Html(text);
}
