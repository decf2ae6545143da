import { TachographError } from '../core/errors.ts';

/** What a stage's process is told by its environment. Parsed once, in the shell, and passed down. */
export interface StageConfig {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** The unix socket to listen on in place of host and port; undefined: those. */
  readonly socketPath: string | undefined;
  /** Where events go; undefined for a stage that emits none in this deployment. */
  readonly sink: string | undefined;
  readonly storeUrl: string;
  readonly filesUrl: string;
  /** Hex SHA-256 of the engineers' token; '' where the stage has no engineers' API. */
  readonly engineerTokenSha256: string;
  /** What is consumed for every event (docs/demand.md); '' nothing. */
  readonly demand: string;
  /** Where CPU demands run: in the event loop, as a handler's own work would, or in worker threads. */
  readonly demandPlacement: DemandPlacement;
  /** Of the streams that amounts and noise are drawn from. */
  readonly demandSeed: number;
  /** File with this machine's calibration, for `rate=local`; '' none. */
  readonly demandCalibration: string;
  /** The user's collector of spans; undefined: none. */
  readonly tracesUrl: string | undefined;
  /** The local cluster's collector, which keeps spans in a folder; undefined: none. */
  readonly spansUrl: string | undefined;
  /** How tracing is set up: by the SDK's trace package alone, or by OpenTelemetry's set-up for Node. */
  readonly tracingSetup: 'own' | 'sdk-node';
  /** How long a stop may take before the process ends regardless. */
  readonly drainMs: number;
}

export type DemandPlacement = 'inline' | { readonly workers: number };

export const MAX_DEMAND_SEED = 999_999_999;
/** Threads of one stage process. */
const MAX_DEMAND_WORKERS = 64;

interface Option<T> {
  readonly env: string;
  readonly fallback: string | undefined;
  readonly about: string;
  readonly parse: (text: string) => T | undefined;
  readonly remedy: string;
}

const option = <T>(
  env: string,
  fallback: string | undefined,
  about: string,
  parse: (text: string) => T | undefined,
  remedy: string,
): Option<T> => ({ env, fallback, about, parse, remedy });

const integer =
  (min: number, max: number) =>
  (text: string): number | undefined => {
    const value = Number(text);
    return /^\d{1,9}$/.test(text) && value >= min && value <= max ? value : undefined;
  };

const matching =
  (pattern: RegExp) =>
  (text: string): string | undefined =>
    pattern.test(text) ? text : undefined;

const httpUrl = matching(/^(https?:\/\/\S{1,2000})?$/);

export const PLACEMENT_REMEDY = `use inline, or workers:1 to workers:${MAX_DEMAND_WORKERS}`;

/** The text of DEMAND_PLACEMENT; undefined for anything else. */
export function parseDemandPlacement(text: string): DemandPlacement | undefined {
  if (text === 'inline') return text;
  const workers = Number(/^workers:(\d{1,3})$/.exec(text)?.[1] ?? 0);
  return workers >= 1 && workers <= MAX_DEMAND_WORKERS ? { workers } : undefined;
}

/** One row an option: the variable, its default, what it is for, what it may hold. */
export const STAGE_OPTIONS = {
  port: option('PORT', '8080', 'port to listen on', integer(0, 65_535), 'use 0 to 65535'),
  host: option(
    'HOST',
    '127.0.0.1',
    'address to listen on',
    matching(/^[0-9a-fA-F.:]{2,45}$/),
    'use an IP address; 0.0.0.0 in a container',
  ),
  socketPath: option(
    'LISTEN_SOCKET',
    '',
    'unix socket to listen on in place of HOST and PORT',
    // The kernel takes 107 bytes, that of macOS 103.
    (text: string) => (Buffer.byteLength(text) <= 103 && !text.includes('\0') ? text : undefined),
    'use a path of at most 103 bytes',
  ),
  sink: option(
    'K_SINK',
    '',
    'where events are sent; set by the SinkBinding',
    httpUrl,
    'use an http URL',
  ),
  storeUrl: option(
    'STORE_URL',
    undefined,
    'the store of facts',
    matching(/^(sqlite:.+|mongodb(\+srv)?:\/\/.+)$/),
    'use sqlite:PATH or mongodb://HOST/DATABASE',
  ),
  filesUrl: option(
    'FILES_URL',
    'store:',
    'where exported files go',
    matching(/^(folder:.+|store:)$/),
    'use folder:PATH or store:',
  ),
  engineerTokenSha256: option(
    'ENGINEER_TOKEN_SHA256',
    '',
    "SHA-256 of the engineers' token",
    matching(/^([0-9a-f]{64})?$/),
    'use 64 lower-case hex digits',
  ),
  demand: option(
    'DEMAND',
    '',
    'what is consumed for every event',
    // Its own grammar judges it, where one is set: that is not loaded for stages without.
    (text: string) => text,
    'see docs/demand.md',
  ),
  demandPlacement: option(
    'DEMAND_PLACEMENT',
    'inline',
    'where CPU demands run',
    parseDemandPlacement,
    PLACEMENT_REMEDY,
  ),
  demandSeed: option(
    'DEMAND_SEED',
    '1',
    'seed of what demands draw',
    integer(0, MAX_DEMAND_SEED),
    `use 0 to ${MAX_DEMAND_SEED}`,
  ),
  demandCalibration: option(
    'DEMAND_CALIBRATION',
    '',
    "file with this machine's calibration",
    matching(/^[^\n]{0,1000}$/),
    'use a path',
  ),
  otlpTracesEndpoint: option(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    '',
    'where spans are sent: the whole URL',
    httpUrl,
    'use an http URL',
  ),
  otlpEndpoint: option(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    '',
    'collector; spans go to its /v1/traces',
    httpUrl,
    'use an http URL',
  ),
  spansUrl: option(
    'SPANS_URL',
    '',
    "where the local cluster's collector takes spans",
    httpUrl,
    'use an http URL',
  ),
  tracingSetup: option(
    'TRACING_SETUP',
    'own',
    'how spans are made and sent: own, or sdk-node for the standard set-up',
    (text: string) => (text === 'own' || text === 'sdk-node' ? text : undefined),
    'use own or sdk-node',
  ),
  otelSdkDisabled: option(
    'OTEL_SDK_DISABLED',
    'false',
    'true: nothing is traced',
    // By the standard every other value means false.
    (text: string) => text.toLowerCase() === 'true',
    'use true or false',
  ),
  drainMs: option(
    'DRAIN_MS',
    '10000',
    'longest time a stop may take',
    integer(0, 600_000),
    'use 0 to 600000 ms',
  ),
} as const satisfies Record<string, Option<unknown>>;

/** Variables whose value may stand in a log; all that are not known to be harmless may not. */
const QUOTABLE = /^(PORT|DEMAND_PLACEMENT|DEMAND_SEED|TRACING_SETUP)$/;

/** Reads one option; secrets (STORE_URL may hold a password) are named, never quoted. */
function read<T>(row: Option<T>, env: Readonly<Record<string, string | undefined>>): T {
  const text = env[row.env] ?? row.fallback;
  const value = text === undefined ? undefined : row.parse(text);
  if (value === undefined) {
    const shown = text === undefined ? '(not set)' : `(${text.length} characters)`;
    throw new TachographError('CONFIG_INVALID', {
      name: row.env,
      value: QUOTABLE.test(row.env) ? (text ?? shown) : shown,
      remedy: row.remedy,
    });
  }
  return value;
}

/** The configuration, or CONFIG_INVALID that names the variable and what it may hold. */
export function readStageConfig(env: Readonly<Record<string, string | undefined>>): StageConfig {
  const sink = read(STAGE_OPTIONS.sink, env);
  const socketPath = read(STAGE_OPTIONS.socketPath, env);
  const spansUrl = read(STAGE_OPTIONS.spansUrl, env);
  const isDisabled = read(STAGE_OPTIONS.otelSdkDisabled, env);
  return Object.freeze({
    port: read(STAGE_OPTIONS.port, env),
    host: read(STAGE_OPTIONS.host, env),
    socketPath: socketPath === '' ? undefined : socketPath,
    sink: sink === '' ? undefined : sink,
    storeUrl: read(STAGE_OPTIONS.storeUrl, env),
    filesUrl: read(STAGE_OPTIONS.filesUrl, env),
    engineerTokenSha256: read(STAGE_OPTIONS.engineerTokenSha256, env),
    demand: read(STAGE_OPTIONS.demand, env),
    demandPlacement: read(STAGE_OPTIONS.demandPlacement, env),
    demandSeed: read(STAGE_OPTIONS.demandSeed, env),
    demandCalibration: read(STAGE_OPTIONS.demandCalibration, env),
    tracesUrl: isDisabled
      ? undefined
      : tracesUrl(
          read(STAGE_OPTIONS.otlpTracesEndpoint, env),
          read(STAGE_OPTIONS.otlpEndpoint, env),
        ),
    spansUrl: spansUrl === '' || isDisabled ? undefined : spansUrl,
    tracingSetup: read(STAGE_OPTIONS.tracingSetup, env),
    drainMs: read(STAGE_OPTIONS.drainMs, env),
  });
}

/** The one for traces is taken as it is; to the one for all signals the path is added (OTLP's rule). */
export function tracesUrl(ofTraces: string, ofAll: string): string | undefined {
  if (ofTraces !== '') return ofTraces;
  return ofAll === '' ? undefined : `${ofAll.replace(/\/+$/, '')}/v1/traces`;
}
