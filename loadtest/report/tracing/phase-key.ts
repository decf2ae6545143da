import { PHASES, type Phase } from '#kernel/core/phases.ts';
import { html, type Html } from '#loadtest/report/html.ts';

/** What each phase is, for the reader who sees it for the first time. */
const ABOUT: Readonly<Record<Phase, string>> = {
  upload: 'from the intended send time until the gateway has the request',
  activator: 'waiting with no replica free',
  coldStart: 'the part of that in which the replica was starting',
  queue: "in the replica's queue-proxy and on the way into its process",
  decode: 'batch into frames, frames into values',
  burnCpu: 'an emulated demand: CPU time',
  burnReady: 'an emulated demand: waiting for a CPU',
  burnRest: 'an emulated demand: the rest of its time',
  store: 'calls of the store under way',
  compute: "the handler's other work",
  emit: 'an emission until its request has a connection',
  publish: 'POST until the stream has the event',
  stream: 'in the stream, until its delivery begins',
  windowWait: 'waiting for the window to fill',
};

/** Class of a phase's colour (TRACE_STYLE). */
export const phaseClass = (phase: Phase): string => `ph${PHASES.indexOf(phase)}`;

/** The phases that occur, each with its colour. */
export const phaseKey = (phases: ReadonlySet<Phase>): Html =>
  html`<p class="keys">
    ${PHASES.filter((phase) => phases.has(phase)).map(
      (phase) =>
        html`<span class="key" title="${ABOUT[phase]}"
          ><i class="${phaseClass(phase)}"></i>${phase}</span
        >`,
    )}
  </p>`;

/** Light, dark: in the order of the phases. Waits are warm, work is cold, the stream is grey-blue. */
const COLOURS: readonly (readonly [string, string])[] = [
  ['#8c959f', '#768390'],
  ['#e8590c', '#ff922b'],
  ['#c92a2a', '#ff6b6b'],
  ['#e0a800', '#ffd43b'],
  ['#0c8599', '#3bc9db'],
  ['#2b8a3e', '#51cf66'],
  ['#74b816', '#a9e34b'],
  ['#b2f2bb', '#2b6e3a'],
  ['#7048e8', '#b197fc'],
  ['#1864ab', '#4dabf7'],
  ['#d6336c', '#f783ac'],
  ['#ae3ec9', '#e599f7'],
  ['#4a6fa5', '#91a7ff'],
  ['#ced4da', '#495057'],
];

const rules = (at: 0 | 1): string =>
  COLOURS.map(
    (colours, index) => `.ph${index} { fill: ${colours[at]}; background: ${colours[at]}; }`,
  ).join('\n');

export const TRACE_STYLE = `
${rules(0)}
@media (prefers-color-scheme: dark) {
${rules(1)}
}
.keys { line-height: 1.9; }
.keys .key { margin-left: 0; margin-right: 12px; }
.keys .key i { height: 12px; width: 12px; border-radius: 2px; }
svg .span { fill: none; stroke: var(--soft); stroke-width: 1; }
svg .span.failed { stroke: var(--bad); stroke-width: 1.5; }
svg text.failed { fill: var(--bad); }
svg text.note { fill: var(--soft); font-size: 12px; }
.waterfall svg { min-width: 760px; }
.trace summary { overflow-wrap: anywhere; }
.trace .why { border: 1px solid var(--line); border-radius: 999px; padding: 0 8px; font-size: .82rem;
  color: var(--soft); margin-left: 6px; white-space: nowrap; }
.filters { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: end; margin: 8px 0; padding: 0;
  border: 0; }
.filters[hidden] { display: none; }
.filters label { color: var(--soft); font-size: .9rem; }
.filters input[type=search] { display: block; font: inherit; padding: 4px 8px; width: min(320px, 80vw);
  background: var(--bg); color: var(--ink); border: 1px solid var(--line); border-radius: 6px; }
.filters .kinds { display: flex; flex-wrap: wrap; gap: 4px 12px; }
`;
