import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TachographError } from '#kernel/core/errors.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import { errorAnswer, params, SECURITY } from './api-schemas.ts';
import { bodyBytes } from '#kernel/runtime/raw-bodies.ts';
import { integerField } from '#kernel/runtime/integer-field.ts';
import { issueToken, listTokens, type RandomBytes, revokeToken } from './vehicle-tokens.ts';

const YEAR_S = 31_536_000;
const MAX_SHOWN = 100;
const MAX_VERSION = 999_999;

/** `/v1/vehicles/:vehicle/tokens…` */
export function tokenRoutes(
  app: FastifyInstance,
  context: StageContext,
  randomBytes: RandomBytes,
): void {
  issueRoute(app, context, randomBytes);
  app.get<{ Params: { vehicle: string } }>(
    '/v1/vehicles/:vehicle/tokens',
    {
      schema: {
        summary: "What was done to a vehicle's tokens, newest first",
        params: params('vehicle'),
        security: SECURITY,
      },
    },
    (request) => list(request.params.vehicle, context),
  );
  app.delete<{ Params: { vehicle: string; version: string } }>(
    '/v1/vehicles/:vehicle/tokens/:version',
    {
      schema: {
        summary: 'Revoke a token',
        params: params('vehicle', 'version'),
        security: SECURITY,
        response: { 204: { description: 'Revoked', type: 'null' }, 404: errorAnswer('Unknown') },
      },
    },
    async (request, reply) => {
      const { vehicle, version } = request.params;
      const number = integerField('version', version, undefined, [1, MAX_VERSION]);
      await revokeToken(vehicle, number, context);
      return reply.status(204).send();
    },
  );
}

async function list(vehicle: string, context: StageContext) {
  return { tokens: await listTokens(vehicle, MAX_SHOWN, context) };
}

function issueRoute(app: FastifyInstance, context: StageContext, randomBytes: RandomBytes): void {
  app.post<{ Params: { vehicle: string } }>(
    '/v1/vehicles/:vehicle/tokens',
    {
      schema: {
        summary: 'Issue a token for a vehicle',
        description: 'It is shown this once. The newest two of a vehicle are valid.',
        params: params('vehicle'),
        body: {
          type: 'object',
          properties: {
            ttlS: { type: 'integer', minimum: 60, maximum: 10 * YEAR_S, default: YEAR_S },
          },
        },
        security: SECURITY,
        response: {
          201: {
            description: 'The token',
            type: 'object',
            properties: {
              token: { type: 'string' },
              version: { type: 'integer' },
              expiresAt: { type: 'string', format: 'date-time' },
            },
          },
        },
      },
    },
    (request, reply) => issue(request.params.vehicle, request, reply, context, randomBytes),
  );
}

async function issue(
  vehicle: string,
  request: FastifyRequest,
  reply: FastifyReply,
  context: StageContext,
  randomBytes: RandomBytes,
): Promise<FastifyReply> {
  const ttlS = ttlOf(bodyBytes(request));
  const { token, version, expiresAtMs } = await issueToken(vehicle, ttlS, randomBytes, context);
  const expiresAt = new Date(expiresAtMs).toISOString();
  return reply.status(201).header('cache-control', 'no-store').send({ token, version, expiresAt });
}

/** `{ "ttlS": 3600 }`, or nothing. */
function ttlOf(body: Uint8Array): number {
  if (body.length === 0) return YEAR_S;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch (error) {
    const detail = (error as Error).message;
    throw new TachographError('BODY_MALFORMED', { format: 'JSON', detail }, { cause: error });
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const unknown = isObject ? Object.keys(value as object).find((key) => key !== 'ttlS') : 'body';
  if (unknown !== undefined) {
    const allowed = 'left out: known here is ttlS';
    throw new TachographError('FIELD_INVALID', { field: unknown, value: '…', allowed });
  }
  return integerField('ttlS', (value as { ttlS?: unknown }).ttlS, YEAR_S, [60, 10 * YEAR_S]);
}
