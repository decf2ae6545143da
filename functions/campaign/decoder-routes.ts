import type { FastifyInstance } from 'fastify';
import { TachographError } from '#kernel/core/errors.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import { errorAnswer, params, SECURITY } from './api-schemas.ts';
import { type DecoderLibrary, MAX_DBC_BYTES } from './decoder-library.ts';
import { requiredBody } from './route-input.ts';

/** A DBC may have a fault on every line: the answer shows the first ones and tells how many. */
const MAX_SHOWN_FAULTS = 100;
const MAX_NAME_LENGTH = 200;

/** `/v1/decoders…` */
export function decoderRoutes(
  app: FastifyInstance,
  context: StageContext,
  library: DecoderLibrary,
): void {
  app.post<{ Querystring: { name?: string } }>(
    '/v1/decoders',
    {
      bodyLimit: MAX_DBC_BYTES,
      schema: {
        summary: 'Store a DBC file',
        description: `The body is the file, at most ${MAX_DBC_BYTES} bytes. Campaigns name it by its SHA-256.`,
        consumes: ['application/octet-stream'],
        querystring: { type: 'object', properties: { name: { type: 'string' } } },
        security: SECURITY,
        response: {
          200: { description: 'It is there already', type: 'object', additionalProperties: true },
          201: { description: 'Stored', type: 'object', additionalProperties: true },
          422: errorAnswer('No usable message in it'),
        },
      },
    },
    async (request, reply) => {
      const name = fileName(request.query.name ?? request.headers['x-decoder-name']);
      const bytes = requiredBody(request, 'the bytes of a DBC file');
      const { sha256, database, created } = await library.add(bytes, name, context.clock.nowMs());
      context.log.info('decoder stored', { sha256, file: name, created });
      return reply.status(created ? 201 : 200).send({
        sha256,
        name,
        messages: database.messages.length,
        signals: database.messages.reduce((sum, { signals }) => sum + signals.length, 0),
        faults: database.faults.slice(0, MAX_SHOWN_FAULTS),
        faultCount: database.faults.length,
      });
    },
  );
  app.get<{ Params: { sha256: string } }>(
    '/v1/decoders/:sha256',
    {
      schema: {
        summary: 'A stored DBC file',
        params: params('sha256'),
        produces: ['application/octet-stream'],
        security: SECURITY,
        response: { 404: errorAnswer('Unknown') },
      },
    },
    async (request, reply) => {
      const { sha256 } = request.params;
      const fact = /^[0-9a-f]{64}$/.test(sha256) ? await library.fact(sha256) : undefined;
      if (fact === undefined) throw new TachographError('DECODER_UNKNOWN', { sha256 });
      // Text of unknown encoding from somebody else: never a type that a browser would run.
      return reply.type('application/octet-stream').send(Buffer.from(fact.bytes));
    },
  );
}

/** The last part of a path, printable, of bounded length: for people, nothing is opened by it. */
function fileName(given: string | string[] | undefined): string {
  const [text = ''] = given === undefined ? [] : [given].flat();
  const last = text.split(/[/\\]/).at(-1) ?? '';
  const visible = last.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '').slice(0, MAX_NAME_LENGTH);
  return visible === '' ? 'decoder.dbc' : visible;
}
