/**
 * Who may import whom. A file belongs to the first row whose folder it lies in; a row lists what its
 * files may import beside themselves. Type-only imports count: a type is knowledge too.
 */
export interface Layer {
  readonly folder: string;
  /** Folders it may import from. */
  readonly may: readonly string[];
  /** No node: built-in, no package but the ones named: the code decides and does nothing. */
  readonly pure?: boolean;
  readonly packages?: readonly string[];
}

const CONTRACTS = ['functions/kernel/core/', 'eventing/contracts/'];
const KERNEL = [...CONTRACTS, 'functions/kernel/'];

export const LAYERS: readonly Layer[] = [
  { folder: 'functions/kernel/core/', may: [], pure: true },
  {
    folder: 'functions/kernel/facts/',
    may: ['functions/kernel/core/', 'functions/kernel/system/'],
  },
  { folder: 'functions/kernel/dbc/', may: KERNEL },
  { folder: 'functions/kernel/', may: KERNEL },
  { folder: 'functions/campaign/', may: KERNEL },
  { folder: 'functions/device-communication/', may: KERNEL },
  { folder: 'functions/data-provider/', may: KERNEL },
  { folder: 'functions/data-processing/', may: KERNEL },
  { folder: 'functions/export/', may: KERNEL },
  { folder: 'eventing/contracts/', may: ['functions/kernel/core/'] },
  { folder: 'eventing/delivery/', may: CONTRACTS, pure: true },
  {
    folder: 'eventing/',
    // Of telemetry the reading of contexts alone.
    may: [
      ...CONTRACTS,
      'eventing/',
      'functions/kernel/system/',
      'functions/kernel/telemetry/propagation.ts',
    ],
  },
  { folder: 'infra/routing/', may: ['functions/kernel/core/'], pure: true },
  {
    folder: 'infra/autoscaling/',
    may: ['functions/kernel/core/', 'infra/autoscaling/'],
    pure: true,
  },
  { folder: 'infra/checks/', may: [] },
  { folder: 'infra/testing/', may: KERNEL },
  {
    folder: 'infra/',
    // Of the demands the grammar alone: a start delay is written as one.
    may: [
      ...CONTRACTS,
      'eventing/',
      'infra/',
      'functions/kernel/system/',
      'functions/kernel/config/',
      'functions/kernel/telemetry/',
      'functions/kernel/demand/',
    ],
  },
  {
    // A benchmark measures the product's own code.
    folder: 'loadtest/bench/',
    may: ['functions/', 'eventing/', 'infra/', 'loadtest/'],
  },
  { folder: 'loadtest/statistics/', may: ['functions/kernel/core/'], pure: true },
  { folder: 'loadtest/', may: ['functions/kernel/', 'eventing/', 'infra/', 'cli/', 'loadtest/'] },
  { folder: 'cli/', may: ['functions/kernel/', 'eventing/', 'infra/', 'loadtest/', 'cli/'] },
  { folder: 'bin/', may: [] },
  { folder: 'examples/policies/', may: ['infra/autoscaling/'], pure: true },
];

/** Packages and built-ins that only these places may import. */
export const SINGLE_IMPORTERS: readonly (readonly [module: RegExp, places: readonly RegExp[]])[] = [
  [/^mongodb$/, [/^functions\/kernel\/store\/(mongo-|bson-)/, /^infra\/testing\//]],
  [/^node:sqlite$/, [/^functions\/kernel\/store\/sqlite-/, /^infra\/local\/cluster-lock/]],
  [/^@nats-io\//, [/^eventing\//, /^loadtest\/bench\//]],
  // Its import alone costs a cold start 30 ms (decision 9).
  [/^undici$/, [/^(eventing|infra|loadtest|cli|examples)\//]],
  [/^@opentelemetry\//, [/^functions\/kernel\/telemetry\//, /^loadtest\/bench\/cold-start\//]],
  [/^rolldown$/, [/^infra\/bundle\//]],
  [/^@fastify\/swagger/, [/^functions\/kernel\/runtime\/api-pages\.ts$/]],
  [/^hyparquet-writer$/, [/^functions\/export\//]],
  [/^node:child_process$/, [/^infra\//, /^eventing\/broker\//, /^cli\//, /^loadtest\//, /^bin\//]],
];
