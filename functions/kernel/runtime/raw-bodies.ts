import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Bodies of the scope's routes stay bytes, whatever their content type says: a codec judges them. */
export function takeRawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => {
    parsed(null, body);
  });
}

/** The body's bytes; none without a body. */
export const bodyBytes = ({ body }: Pick<FastifyRequest, 'body'>): Uint8Array =>
  Buffer.isBuffer(body) ? body : new Uint8Array(0);
