import { createHash } from 'node:crypto';
import { Html } from '#loadtest/report/html.ts';

/**
 * The report's only script: shows and hides the traces that stand in the page already. Without it all of
 * them are there, and the browser's own search finds them.
 */
const SCRIPT = `
const form = document.getElementById('trace-filters');
const traces = [...document.querySelectorAll('details.trace')];
const shown = document.getElementById('traces-shown');
function apply() {
  const words = form.elements.words.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const kinds = [...form.querySelectorAll('input[type=checkbox]:checked')].map((box) => box.value);
  let count = 0;
  for (const trace of traces) {
    const text = trace.dataset.text;
    const own = trace.dataset.kept.split(' ');
    const fits = words.every((word) => text.includes(word)) && kinds.some((kind) => own.includes(kind));
    trace.hidden = !fits;
    if (fits) count += 1;
  }
  shown.textContent = count + ' of ' + traces.length + ' shown';
}
form.hidden = false;
form.addEventListener('input', apply);
form.addEventListener('submit', (event) => event.preventDefault());
apply();
`;

export const filterScript = (): Html => new Html(`<script>${SCRIPT}</script>`);

/** What the content security policy allows: this text and no other. */
export const filterScriptSource = (): string =>
  `'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`;
