import type { FastifyInstance } from 'fastify';
import { TachographError } from '#kernel/core/errors.ts';
import { namePart } from '#kernel/core/ids.ts';
import type { AuthHook } from '#kernel/runtime/engineer-auth.ts';
import { integerField } from '#kernel/runtime/integer-field.ts';
import type { Store } from '#kernel/store/store.ts';
import type { ExportFiles } from './export-files.ts';
import { isSessionFile, sessionFolder } from './export-unit.ts';
import { describeSession, listSessions } from './list-sessions.ts';
import { readSidecar } from './read-sidecar.ts';
import { sendFile } from './send-file.ts';

const MAX_SESSIONS = 1_000;
const MAX_LISTED_FILES = 10_000;

const NAME = { type: 'string', minLength: 1, maxLength: 64 } as const;
const ERROR = {
  type: 'object',
  properties: { error: { type: 'object', additionalProperties: true } },
} as const;
const ERRORS = { 400: ERROR, 401: ERROR, 404: ERROR } as const;
const SESSION = {
  type: 'object',
  properties: {
    session: { type: 'string' },
    revision: { type: ['integer', 'null'], description: 'newest closing; null while open' },
    compacted: { type: 'boolean' },
  },
} as const;
const SECURITY = { security: [{ bearer: [] }], tags: ['datasets'] };

const LIST_SCHEMA = {
  ...SECURITY,
  summary: 'Sessions of a vehicle that have exported data',
  params: { type: 'object', properties: { vehicle: NAME } },
  querystring: {
    type: 'object',
    properties: {
      after: { ...NAME, description: 'continue after this session' },
      limit: { type: 'integer', minimum: 1, maximum: MAX_SESSIONS, default: 100 },
    },
  },
  response: {
    200: {
      type: 'object',
      properties: {
        vehicle: { type: 'string' },
        sessions: { type: 'array', items: SESSION },
        next: { type: ['string', 'null'], description: 'give as `after` for more' },
      },
    },
    ...ERRORS,
  },
};

const DETAIL_SCHEMA = {
  ...SECURITY,
  summary: "A session's files and, once it is compacted, its account",
  params: { type: 'object', properties: { vehicle: NAME, session: NAME } },
  response: {
    200: {
      type: 'object',
      properties: {
        vehicle: { type: 'string' },
        ...SESSION.properties,
        files: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string', description: 'below …/files/' },
              bytes: { type: 'integer' },
            },
          },
        },
        truncated: { type: 'boolean', description: `more than ${MAX_LISTED_FILES} files` },
        account: {
          type: ['object', 'null'],
          additionalProperties: true,
          description: 'session.json; null before the first compaction',
        },
      },
    },
    ...ERRORS,
  },
};

const FILE_SCHEMA = {
  ...SECURITY,
  summary: 'One file, whole or in part (Range, If-Range, ETag, HEAD)',
  params: {
    type: 'object',
    properties: {
      vehicle: NAME,
      session: NAME,
      '*': { type: 'string', description: 'for example recorded/can0-SPEED.parquet' },
    },
  },
  produces: ['application/vnd.apache.parquet', 'text/csv', 'application/json'],
};

interface SessionParams {
  readonly vehicle: string;
  readonly session: string;
}

async function describeDataset(
  store: Store,
  files: ExportFiles,
  vehicle: string,
  session: string,
): Promise<Record<string, unknown>> {
  const folder = sessionFolder(vehicle, session);
  const described = await describeSession(store, vehicle, session);
  const listed = await files.list(vehicle, session, MAX_LISTED_FILES + 1);
  if (listed.length === 0) throw new TachographError('DATASET_UNKNOWN', { path: folder });
  const shown = listed.slice(0, MAX_LISTED_FILES);
  return {
    vehicle,
    ...described,
    files: shown.map(({ path, bytes }) => ({ name: path.slice(folder.length + 1), bytes })),
    truncated: listed.length > shown.length,
    account: (await readSidecar(files, vehicle, session)) ?? null,
  };
}

/** `/v1/datasets`: what has been exported, for engineers. */
export function datasetRoutes(
  app: FastifyInstance,
  store: Store,
  files: ExportFiles,
  auth: AuthHook,
): void {
  app.addHook('onRequest', auth);
  app.route<{
    Params: { readonly vehicle: string };
    Querystring: { readonly after?: string; readonly limit?: string };
  }>({
    method: 'GET',
    url: '/v1/datasets/:vehicle',
    schema: LIST_SCHEMA,
    handler: async (request) => {
      const { vehicle } = request.params;
      const { after } = request.query;
      const limit = integerField('limit', request.query.limit, 100, [1, MAX_SESSIONS]);
      const sessions = await listSessions(store, namePart(vehicle, 'vehicle'), after, limit);
      const next = sessions.length === limit ? (sessions.at(-1)?.session ?? null) : null;
      return { vehicle, sessions, next };
    },
  });
  app.route<{ Params: SessionParams }>({
    method: 'GET',
    url: '/v1/datasets/:vehicle/:session',
    schema: DETAIL_SCHEMA,
    handler: async (request) => {
      const { vehicle, session } = request.params;
      return describeDataset(store, files, vehicle, session);
    },
  });
  app.route<{ Params: SessionParams & { readonly '*': string } }>({
    method: ['GET', 'HEAD'],
    url: '/v1/datasets/:vehicle/:session/files/*',
    schema: FILE_SCHEMA,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { vehicle, session, '*': name } = request.params;
      const folder = sessionFolder(vehicle, session);
      // Only names that the export itself can give are ever looked up: no `..`, no dot files.
      const file = isSessionFile(name) ? await files.open(`${folder}/${name}`) : undefined;
      if (file === undefined) throw new TachographError('FILE_UNKNOWN', { path: name });
      return sendFile(request, reply, file, name);
    },
  });
}
