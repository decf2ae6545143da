import { readStageConfig, type StageConfig } from '../config/stage-config.ts';
import { SOFTWARE } from '../config/software.ts';
import { TachographError } from '../core/errors.ts';
import type { ListeningMessage } from '../core/listening-message.ts';
import { openStore } from '../store/open-store.ts';
import { jsonLog, type Log } from '../system/log.ts';
import { epochMs, startTimings } from '../system/start-timings.ts';
import { systemClock } from '../system/system-clock.ts';
import { meteredStore } from '../telemetry/metrics/metered-store.ts';
import { METRIC } from '../telemetry/metrics/metric-names.ts';
import { observeProcess } from '../telemetry/metrics/observe-process.ts';
import { openMetrics } from '../telemetry/metrics/open-metrics.ts';
import { StageMetrics } from '../telemetry/metrics/stage-metrics.ts';
import type { ProcessIdentity } from '../telemetry/process-resource.ts';
import type { RequestSpan, StageTelemetry } from '../telemetry/stage-telemetry.ts';
import { sinkEmitter } from './emitter.ts';
import { buildStageServer } from './stage-server.ts';
import type { StageDemand } from './stage-demand.ts';
import type { StageContext, StageDefinition } from './stage.ts';

/** Spans that a collector does not take within this time are lost: a stop must not wait for one. */
const MAX_FLUSH_MS = 2_000;

/**
 * The process of a stage: configuration, store, server, and an orderly end.
 *
 * Ready is told to the pool by message, not found out by polling. SIGTERM (or the parent's end, seen
 * as a closed channel) stops accepting, finishes what is in flight, closes the store, flushes telemetry
 * and exits 0;
 * after `drainMs` it exits 1 regardless.
 */
export async function runStage(
  create: (config: StageConfig) => StageDefinition | Promise<StageDefinition>,
): Promise<void> {
  const loadedMs = systemClock.monotonicMs();
  const log = jsonLog(
    process.env['K_SERVICE'] ?? 'stage',
    () => systemClock.nowMs(),
    (line) => process.stderr.write(line),
  );
  try {
    await start(create, log, loadedMs);
  } catch (error) {
    const known = error instanceof TachographError;
    log.error('could not start', { why: known ? error.message : (error as Error).stack });
    process.exit(known ? 2 : 1);
  }
}

async function start(
  create: (config: StageConfig) => StageDefinition | Promise<StageDefinition>,
  log: Log,
  loadedMs: number,
): Promise<void> {
  const config = readStageConfig(process.env);
  const definition = await create(config);
  const clock = systemClock;
  const opened = await openStore(config.storeUrl, clock);
  const identity = identityOf(definition);
  const telemetry = await openTelemetry(config, identity, log);
  const metrics = new StageMetrics(dbSystemOf(config));
  const metered = meteredStore(opened, metrics, clock);
  const store =
    telemetry === undefined
      ? metered
      : (await import('../telemetry/traced-store.ts')).tracedStore(metered, telemetry);
  const { book } = metrics;
  observeProcess(book, process);
  book.observe(METRIC.spansDropped, (note) => note(telemetry?.dropped ?? 0));
  const face = await openMetrics({ book, identity, env: process.env, clock, log });
  const span = (): RequestSpan | undefined => telemetry?.current();
  const emitter = sinkEmitter(definition.name, config.sink, clock, span, metrics);
  const context: StageContext = {
    clock,
    store,
    log,
    software: SOFTWARE,
    span,
    metrics,
    emit: (emission, cause) => emitter.emit(emission, cause),
  };
  const demand = await openDemand(config, definition, {
    ...context,
    ...(telemetry === undefined ? {} : { nowMs: () => telemetry.nowMs() }),
  });
  if (demand !== undefined) book.observe(METRIC.burstQueue, (note) => note(demand.queued));
  const server = await buildStageServer(definition, context, demand, telemetry, () => face.text());
  let stopping = false;
  const stop = async (why: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info('stopping', { why });
    const guard = setTimeout(() => process.exit(1), config.drainMs);
    guard.unref();
    await server.close();
    await emitter.close();
    await demand?.close();
    await store.close();
    const flushMs = Math.min(MAX_FLUSH_MS, config.drainMs / 2);
    await Promise.all([telemetry?.stop(flushMs), face.stop(flushMs)]);
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop('SIGTERM'));
  process.once('SIGINT', () => void stop('SIGINT'));
  process.once('disconnect', () => void stop('the parent process ended'));
  const address = await server.listen(
    config.socketPath === undefined
      ? { port: config.port, host: config.host }
      : { socketPath: config.socketPath },
  );
  const listeningMs = clock.monotonicMs();
  const timings = startTimings(loadedMs, listeningMs);
  // Before anything is logged, which opens stderr: somebody may wait for this stage.
  process.send?.({ type: 'listening', address, timings } satisfies ListeningMessage);
  log.info('listening', { ...address });
  // The monotonic clock begins with the process.
  metrics.noteStart(listeningMs);
}

/** Whose spans and metrics they are. */
function identityOf({ name }: StageDefinition): ProcessIdentity {
  const service = process.env['K_SERVICE'] ?? name;
  const instance = process.env['HOSTNAME'] ?? `${service}-${process.pid}`;
  return { service, instance, software: SOFTWARE, pid: process.pid };
}

const dbSystemOf = ({ storeUrl }: StageConfig): string =>
  storeUrl.startsWith('sqlite:') ? 'sqlite' : 'mongodb';

/** Nothing of tracing is loaded where no collector is set. */
async function openTelemetry(
  config: StageConfig,
  identity: ProcessIdentity,
  log: Log,
): Promise<StageTelemetry | undefined> {
  const { tracesUrl, spansUrl, tracingSetup } = config;
  if (tracesUrl === undefined && spansUrl === undefined) return undefined;
  const { startTelemetry } = await import('../telemetry/start.ts');
  return startTelemetry({
    ...identity,
    tracesUrl,
    spansUrl,
    setup: tracingSetup,
    dbSystem: dbSystemOf(config),
    env: process.env,
    clock: systemClock,
    nowMs: () => epochMs(systemClock.monotonicMs()),
    log,
  });
}

/** Nothing of the burner is loaded where no demand is set: a cold start pays for what it uses. */
async function openDemand(
  config: StageConfig,
  definition: StageDefinition,
  context: StageContext & { readonly nowMs?: () => number },
): Promise<StageDemand | undefined> {
  if (config.demand.trim() === '') return undefined;
  const { openStageDemand } = await import('./open-demand.ts');
  const startedMs = Math.round(context.clock.nowMs());
  const demand = await openStageDemand(
    config,
    definition,
    context,
    `${definition.name}-${process.pid}-${startedMs}`,
  );
  context.log.info('executes a demand for every event', { ...demand.settings });
  return demand;
}
