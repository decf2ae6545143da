import { join, resolve } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import { deriveSummary, readRunRecords } from '#loadtest/results/run-records.ts';
import { findTrace } from '#loadtest/tracing/find-trace.ts';
import { relatedSpans } from '#loadtest/tracing/analyze-traces.ts';
import { SpanIndex } from '#loadtest/tracing/span-index.ts';
import { MIN_WIDTH, traceLines } from './trace-lines.ts';
import type { Verb } from './verb.ts';

/** Where the output is no terminal. */
const PLAIN_WIDTH = 110;

/** `tachograph trace ID [DIR]`. */
export const traceVerb: Verb = {
  name: 'trace',
  summary:
    "prints one batch's waterfall: where its time went, from the vehicle to the exported file",
  details: [
    'ID is a trace id or its beginning (4 digits or more), VEHICLE/SESSION/SEQ or VEHICLE/SEQ; without one, the',
    'slowest trace is shown. DIR is a result folder (default: results/latest). Bars are spans; the letters in',
    'them are phases, the key stands below.',
  ],
  options: {},
  operands: { text: '[ID] [DIR]', max: 2 },
  async run({ root, operands, terminal }) {
    const [wanted, dir] = operands;
    const folder = resolve(dir ?? join(root, 'results', 'latest'));
    const records = await readRunRecords(folder);
    const { traces } = deriveSummary(records);
    if (traces === undefined || records.spans === undefined) {
      const detail = 'the run was not traced: there is no spans.ndjson';
      throw new TachographError('RESULT_UNREADABLE', { folder, detail });
    }
    const slowest = [...traces.traces].sort((a, b) => (b.totalMs ?? 0) - (a.totalMs ?? 0))[0];
    const trace = findTrace(traces.traces, wanted ?? slowest?.traceId ?? '');
    const spans = relatedSpans(new SpanIndex(records.spans.spans), trace.traceId);
    terminal.document({ trace, spans });
    const width = Math.max(MIN_WIDTH, process.stdout.columns ?? PLAIN_WIDTH);
    const colour = terminal.colour.bind(terminal);
    for (const line of traceLines(trace, spans, { width, colour })) terminal.print(line);
    return 0;
  },
};
