import { join } from 'node:path';
import { startCluster, type ClusterEvent, type LocalCluster } from '#infra/local/cluster.ts';
import { BoundedLogFile } from '#infra/local/bounded-log-file.ts';
import { makePrivateFolder } from '#infra/local/private-folder.ts';
import { must } from '#kernel/core/assert.ts';
import { jsonLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import type { DaemonReport, DaemonRequest } from './daemon-messages.ts';
import { describeFailure } from './describe-failure.ts';
import { engineerToken } from './engineer-token.ts';
import { removeLocalState, writeLocalState, type LocalState } from './local-state.ts';
import { processIdentity } from './process-identity.ts';

/**
 * The process behind `tachograph up`: runs the pipeline until SIGTERM. It is forked with a channel, is
 * sent one request, and reports on the channel until it is ready or has failed. When the channel closes
 * before that, `up` was killed, and the pipeline is stopped.
 */
const MAX_LOG_BYTES = 4_194_304;
const STOP_LIMIT_MS = 60_000;

const stopping = new AbortController();
let ready = false;
process.once('SIGTERM', () => stopping.abort(new Error('SIGTERM')));
// The terminal that started it may close: the pipeline stays.
process.on('SIGHUP', () => {});
process.on('SIGINT', () => {});
process.once('disconnect', () => {
  if (!ready) stopping.abort(new Error('"tachograph up" ended'));
});
process.once('message', (message) => {
  void run(message as DaemonRequest);
});

const report = (message: DaemonReport): void => {
  if (process.connected) process.send?.(message);
};

async function run(request: DaemonRequest): Promise<void> {
  const { home, dataDir } = request;
  try {
    await makePrivateFolder(join(dataDir, 'logs'));
  } catch (error) {
    fail(error);
    return;
  }
  const logFile = new BoundedLogFile(join(dataDir, 'logs', 'cluster.log'), MAX_LOG_BYTES);
  const log = jsonLog(
    'cluster',
    () => systemClock.nowMs(),
    (line) => logFile.write(Buffer.from(line)),
  );
  try {
    const cluster = await start(request, log);
    await writeLocalState(home, await stateOf(cluster, request));
    ready = true;
    report({ kind: 'ready', state: await stateOf(cluster, request) });
    await stopAsked();
    log.info('stopping');
    const guard = systemClock.sleep(STOP_LIMIT_MS).then(() => process.exit(1));
    await Promise.race([cluster.stop(), guard]);
    await removeLocalState(home);
    process.exit(0);
  } catch (error) {
    log.error('the pipeline failed', { message: describeFailure(error) });
    // First the reason: on a disk that refuses to write, what follows may fail for the same one.
    fail(error);
    await removeLocalState(home);
  }
}

function fail(error: unknown): void {
  report({ kind: 'failed', message: describeFailure(error) });
  process.exitCode = 1;
  if (process.connected) process.disconnect();
}

async function start(
  request: DaemonRequest,
  log: ReturnType<typeof jsonLog>,
): Promise<LocalCluster> {
  const { root, home, overlay, dataDir, port } = request;
  const { sha256 } = await engineerToken(home);
  const recordDir = join(dataDir, 'records');
  await makePrivateFolder(recordDir);
  return startCluster({
    root,
    overlay,
    dataDir,
    recordDir,
    spansDir: spansDir(dataDir),
    gatewayPort: port,
    configMaps: {
      tachograph: {
        ...request.settings,
        'store-url': storeUrl(dataDir),
        'files-url': `folder:${join(dataDir, 'export')}`,
      },
    },
    secrets: { 'tachograph-engineer': { 'token-sha256': sha256 } },
    controlTokenSha256: sha256,
    env: process.env,
    log,
    signal: stopping.signal,
    onEvent: (event) => {
      if (event.kind === 'inert') log.info('without effect here', { fields: event.fields });
      const line = progressLine(event, join(dataDir, 'logs', 'cluster.log'));
      if (line !== undefined) report({ kind: 'progress', line });
    },
  });
}

const spansDir = (dataDir: string): string => join(dataDir, 'traces');

const storeUrl = (dataDir: string): string => `sqlite:${join(dataDir, 'store.sqlite')}`;

function progressLine(event: ClusterEvent, logPath: string): string | undefined {
  if (event.kind === 'starting') return `starting ${event.what}`;
  if (event.kind === 'ready') return `${event.replica} is ready`;
  if (event.kind === 'inert' && event.fields.length > 0) {
    return `${event.fields.length} fields of the YAML have no effect here; see ${logPath}`;
  }
  return undefined;
}

async function stateOf(cluster: LocalCluster, request: DaemonRequest): Promise<LocalState> {
  const { gatewayUrl, brokerUrl, natsUrl } = cluster;
  const identity = must(await processIdentity(process.pid), 'the identity of this process');
  const { services } = await cluster.status();
  const { file } = await engineerToken(request.home);
  return {
    pid: process.pid,
    identity,
    gatewayUrl,
    brokerUrl,
    natsUrl,
    spansUrl: cluster.spansUrl ?? null,
    spansDir: spansDir(request.dataDir),
    services: services.map(({ name }) => name),
    dataDir: request.dataDir,
    storeUrl: storeUrl(request.dataDir),
    tokenFile: file,
  };
}

function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.signal.aborted) resolve();
    else stopping.signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
