import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace';
import { VirtualClock } from '../../core/clock.ts';
import { emissionEvent } from '../../runtime/emitter.ts';
import { DONE, type StageContext, type StageDefinition } from '../../runtime/stage.ts';
import { serveStage, type ServedStage } from '../../runtime/testing/serve-stage.ts';
import { memoryStore } from '../../store/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { silentLog } from '../../system/log.ts';
import { startTelemetry, type TelemetryOptions } from '../start.ts';
import { tracedStore } from '../traced-store.ts';

export const TRACE = '0af7651916cd43dd8448eb211c80319c';
export const PARENT_SPAN = 'b7ad6b7169203331';
export const PARENT = `00-${TRACE}-${PARENT_SPAN}-01`;
/** When the virtual clock begins. */
export const START_MS = 1_767_600_000_000;
const served: ServedStage[] = [];

export async function closeTracedStages(): Promise<void> {
  for (const stage of served.splice(0)) await stage.close();
}

const EMISSION = {
  name: 'session.closed.v1',
  factId: 'v/s/1',
  subject: 'v',
  data: { vehicle: 'v', session: 's', revision: 1 },
} as const;

const EVENT = {
  'ce-specversion': '1.0',
  'ce-id': 'a/b',
  'ce-source': '/test',
  'ce-type': 'known',
  'ce-subject': 'veh-1',
  'content-type': 'application/json',
};

export interface TracedStage {
  readonly url: string;
  readonly clock: VirtualClock;
  readonly emitted: ReturnType<typeof emissionEvent>[];
  readonly post: (path: string, more?: Record<string, string>) => Promise<Response>;
  /** Ends the telemetry, which delivers its spans; read before the exporter forgets them. */
  readonly spans: () => Promise<readonly ReadableSpan[]>;
}

/** A stage that takes 250 ms to emit what it was told by, its spans in memory, its emissions as events. */
export async function tracedStage(
  change: Partial<StageDefinition> = {},
  setup: TelemetryOptions['setup'] = 'own',
): Promise<TracedStage> {
  const { exporter, finished } = keepingExporter();
  const clock = new VirtualClock(START_MS);
  const telemetry = await startTelemetry({
    tracesUrl: 'http://unused.test/v1/traces',
    spansUrl: undefined,
    setup,
    service: 'export',
    instance: 'export-0',
    dbSystem: 'sqlite',
    software: 'tachograph/1.2.3',
    pid: 42,
    env: {},
    clock,
    nowMs: () => clock.nowMs(),
    log: silentLog,
    loadExporter: async () => exporter,
  });
  const emitted: ReturnType<typeof emissionEvent>[] = [];
  const context: StageContext = {
    clock,
    store: tracedStore(slowStore(clock), telemetry),
    log: silentLog,
    software: 'tachograph/1.2.3',
    span: () => telemetry.current(),
    emit: async (emission, cause) => {
      const place = telemetry.current()?.place;
      emitted.push(emissionEvent('export', emission, cause, clock.nowMs(), place));
    },
  };
  const definition = { ...emittingStage(clock), ...change };
  const stage = await serveStage(definition, context, undefined, telemetry);
  served.push(stage);
  // Over a socket: the end of an answer is the end of its span.
  const url = await stage.listen();
  return {
    url,
    clock,
    emitted,
    post: (path, more = {}) =>
      fetch(`${url}${path}`, { method: 'POST', headers: { ...EVENT, ...more }, body: '{}' }),
    spans: async () => {
      await stage.close();
      // Virtual time stands: it is the end of the delivery that is waited for.
      await telemetry.stop(1_000);
      return finished;
    },
  };
}

/** In memory; an insertion takes 40 ms. */
function slowStore(clock: VirtualClock): Store {
  const store = memoryStore();
  return {
    ...store,
    insert: async (...args) => {
      await clock.advance(40);
      return store.insert(...args);
    },
  };
}

const emittingStage = (clock: VirtualClock): StageDefinition => ({
  name: 'export',
  consumes: ['known'],
  handle: async (event, own) => {
    await clock.advance(250);
    await own.emit(EMISSION, event);
    return DONE;
  },
  routes: (app, own) => {
    app.post('/v1/things', async (_request, reply) => {
      await own.emit(EMISSION, undefined);
      return reply.status(201).send({});
    });
  },
});

/** One that forgets its spans when it is shut down, and a list that does not. */
function keepingExporter() {
  const exporter = new InMemorySpanExporter();
  const finished: ReadableSpan[] = [];
  const deliver = exporter.export.bind(exporter);
  exporter.export = (batch, done) => {
    finished.push(...batch);
    deliver(batch, done);
  };
  return { exporter, finished };
}
