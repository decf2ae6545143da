import { fork, type ChildProcess } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePrivateFolder } from '#infra/local/private-folder.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { daemonFault } from './daemon-fault.ts';
import type { DaemonReport, DaemonRequest } from './daemon-messages.ts';
import { demandSettings } from './demand-settings.ts';
import { readLocalState, type LocalState } from './local-state.ts';
import type { Verb, VerbContext } from './verb.ts';

const DAEMON = fileURLToPath(new URL('local-daemon.ts', import.meta.url));
const DEFAULT_PORT = 8080;
const STOP_HINT = '"make down" (npx tachograph down)';
export const DEFAULT_OVERLAY = 'infra/kubernetes/overlays/local';

/** `tachograph up`. */
export const upVerb: Verb = {
  name: 'up',
  summary: 'starts the pipeline and leaves it running; "down" stops it',
  details: [
    'Runs the Knative YAML of the overlay as processes of this machine and prints where to reach them.',
    'The data stay in the data folder when the pipeline stops; the next "up" goes on with them.',
    "State (which process, which ports, the engineers' token) is kept in TACHOGRAPH_HOME.",
  ],
  options: {
    data: { kind: 'text', value: 'DIR', about: 'data folder (default: data)' },
    port: {
      kind: 'text',
      value: 'PORT',
      about: `gateway's port, 0: any (default: ${DEFAULT_PORT})`,
    },
    overlay: { kind: 'text', value: 'DIR', about: `kustomization (default: ${DEFAULT_OVERLAY})` },
    demand: {
      kind: 'list',
      value: 'STAGE=DEMAND',
      about: 'what a stage consumes for each event, e.g. data-processing=cpuTime:50ms@instead',
    },
    'demand-placement': {
      kind: 'text',
      value: 'WHERE',
      about: 'inline (default), or workers:N threads in each stage',
    },
    'demand-seed': { kind: 'text', value: 'N', about: 'of what demands draw (default: 1)' },
  },
  async run(context) {
    const running = await readLocalState(context.home);
    if (running !== undefined) {
      const other = otherOptions(running, requestOf(context), context);
      if (other.length > 0) {
        throw new TachographError('PIPELINE_RUNS_OTHERWISE', { detail: other.join(' and ') });
      }
      context.terminal.note(`The pipeline is running already; ${STOP_HINT} stops it`);
      if (context.list('demand').length > 0) {
        context.terminal.note('It keeps the demands that it was started with');
      }
      show(running, context);
      return 0;
    }
    show(await startDaemon(requestOf(context), context), context);
    return 0;
  },
};

/** What was asked for and the running pipeline does not have; what was not given is as it is. */
function otherOptions(
  { gatewayUrl, dataDir }: LocalState,
  asked: DaemonRequest,
  context: VerbContext,
): string[] {
  const { port } = new URL(gatewayUrl);
  const anyPort = context.option('port') === undefined || asked.port === 0;
  const otherPort = !anyPort && String(asked.port) !== port;
  const otherData = context.option('data') !== undefined && asked.dataDir !== dataDir;
  return [...(otherPort ? [`--port ${port}`] : []), ...(otherData ? [`--data ${dataDir}`] : [])];
}

function requestOf(context: VerbContext): DaemonRequest {
  const { root, home } = context;
  return {
    root,
    home: resolve(home),
    overlay: context.option('overlay') ?? DEFAULT_OVERLAY,
    dataDir: resolve(context.option('data') ?? join(root, 'data')),
    port: portOption(context.option('port')),
    settings: demandSettings({
      demands: context.list('demand'),
      placement: context.option('demand-placement'),
      seed: context.option('demand-seed'),
      home: resolve(home),
    }),
  };
}

function portOption(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  const remedy = 'use 0 to 65535';
  throw new TachographError('CONFIG_INVALID', { name: '--port', value: text, remedy });
}

/** Resolves when the pipeline is ready; an interrupt or a failure ends the process and rejects. */
async function startDaemon(request: DaemonRequest, context: VerbContext): Promise<LocalState> {
  await makePrivateFolder(request.home);
  // What the process says before it has its own log: only a fault of the program itself.
  const errors = await open(join(request.home, 'daemon.log'), 'w', 0o600);
  let child: ChildProcess;
  try {
    child = fork(DAEMON, [], {
      cwd: request.root,
      detached: true,
      stdio: ['ignore', 'ignore', errors.fd, 'ipc'],
      execArgv: [],
    });
  } finally {
    await errors.close();
  }
  const onAbort = (): void => {
    child.kill('SIGTERM');
  };
  context.signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await firstResult(child, request, context);
  } finally {
    context.signal.removeEventListener('abort', onAbort);
    if (child.connected) child.disconnect();
    child.unref();
  }
}

function firstResult(
  child: ChildProcess,
  request: DaemonRequest,
  { terminal, home }: VerbContext,
): Promise<LocalState> {
  return new Promise((resolve, reject) => {
    let failure: string | undefined;
    child.on('message', (message) => {
      const report = message as DaemonReport;
      if (report.kind === 'progress') terminal.progress(report.line);
      if (report.kind === 'ready') resolve(report.state);
      if (report.kind === 'failed') {
        terminal.note(report.message);
        failure = 'the reason stands above';
      }
    });
    child.once('error', reject);
    // A failure is told when the process is gone, so that nothing is left when this verb ends.
    child.once('exit', (code) => {
      const detail = failure ?? daemonFault(code, join(home, 'daemon.log'));
      reject(new TachographError('PIPELINE_NOT_STARTED', { detail }));
    });
    child.send(request);
  });
}

/** Stages with REST routes, which describe themselves. */
const DOCUMENTED = new Set(['campaign', 'device-communication', 'export']);

function show(state: LocalState, { terminal, root }: VerbContext): void {
  const { gatewayUrl, services, dataDir, tokenFile } = state;
  terminal.document(state);
  const bold = (text: string): string => terminal.colour('bold', text);
  // Absolute paths: the lines work from any folder.
  const auth = `-H "Authorization: Bearer $(cat '${tokenFile}')"`;
  const drive = join(root, 'examples/drive/toyota_2017.dbc');
  const example = services.includes('campaign');
  const tryIt = [
    '',
    bold('Try it:'),
    `  curl -sS ${auth} ${gatewayUrl}/campaign/v1/campaigns`,
    `  curl -sS ${auth} -H 'content-type: application/octet-stream' \\`,
    `    --data-binary '@${drive}' '${gatewayUrl}/campaign/v1/decoders?name=toyota_2017'`,
    `  curl -sS ${auth} -X POST ${gatewayUrl}/campaign/v1/vehicles/car-1/tokens`,
    `  curl -sS ${auth} ${gatewayUrl}/export/v1/datasets/car-1`,
  ];
  for (const line of [
    bold(`Tachograph is running (process ${state.pid}).`),
    '',
    ...services.map((name) => stageLine(name, gatewayUrl)),
    `  ${'broker'.padEnd(22)}${state.brokerUrl}`,
    `  ${'status'.padEnd(22)}${gatewayUrl}/-/status`,
    `  ${'metrics'.padEnd(22)}${gatewayUrl}/-/metrics`,
    ...(example ? tryIt : []),
    '',
    `"make status" (npx tachograph status) shows how it does, ${STOP_HINT} stops it. Data and logs:`,
    dataDir,
  ]) {
    terminal.print(line);
  }
}

function stageLine(name: string, gatewayUrl: string): string {
  const shown = DOCUMENTED.has(name) ? `${gatewayUrl}/${name}/docs` : 'runs; it takes events only';
  return `  ${name.padEnd(22)}${shown}`;
}
