import { readStageConfig, type StageConfig } from '../config/stage-config.ts';
import { SOFTWARE } from '../config/software.ts';
import { TachographError } from '../core/errors.ts';
import { openStore } from '../store/open-store.ts';
import { jsonLog } from '../system/log.ts';
import { systemClock } from '../system/system-clock.ts';
import { sinkEmitter } from './emitter.ts';
import { buildStageServer } from './stage-server.ts';
import type { StageDemand } from './stage-demand.ts';
import type { StageContext, StageDefinition } from './stage.ts';

/**
 * The process of a stage: configuration, store, server, and an orderly end.
 *
 * Ready is told to the pool by message, not found out by polling. SIGTERM (or the parent's end, seen
 * as a closed channel) stops accepting, finishes what is in flight, closes the store and exits 0;
 * after `drainMs` it exits 1 regardless.
 */
export async function runStage(
  create: (config: StageConfig) => StageDefinition | Promise<StageDefinition>,
): Promise<void> {
  const log = jsonLog(
    process.env['K_SERVICE'] ?? 'stage',
    () => systemClock.nowMs(),
    (line) => process.stderr.write(line),
  );
  try {
    await start(create, log);
  } catch (error) {
    const known = error instanceof TachographError;
    log.error('could not start', { why: known ? error.message : (error as Error).stack });
    process.exit(known ? 2 : 1);
  }
}

async function start(
  create: (config: StageConfig) => StageDefinition | Promise<StageDefinition>,
  log: ReturnType<typeof jsonLog>,
): Promise<void> {
  const config = readStageConfig(process.env);
  const definition = await create(config);
  const clock = systemClock;
  const store = await openStore(config.storeUrl, clock);
  const emitter = sinkEmitter(definition.name, config.sink, clock);
  const context: StageContext = {
    clock,
    store,
    log,
    software: SOFTWARE,
    emit: (emission, cause) => emitter.emit(emission, cause),
  };
  const demand = await openDemand(config, definition, context);
  const app = await buildStageServer(definition, context, demand);
  let stopping = false;
  const stop = async (why: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info('stopping', { why });
    const guard = setTimeout(() => process.exit(1), config.drainMs);
    guard.unref();
    await app.close();
    await emitter.close();
    await demand?.close();
    await store.close();
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop('SIGTERM'));
  process.once('SIGINT', () => void stop('SIGINT'));
  process.once('disconnect', () => void stop('the parent process ended'));
  await app.listen({ port: config.port, host: config.host });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.port;
  log.info('listening', { port });
  process.send?.({ type: 'listening', port });
}

/** Nothing of the burner is loaded where no demand is set: a cold start pays for what it uses. */
async function openDemand(
  config: StageConfig,
  definition: StageDefinition,
  context: StageContext,
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
