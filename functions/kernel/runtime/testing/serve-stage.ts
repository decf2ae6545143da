import type { IncomingMessage } from 'node:http';
import { fastify, type FastifyInstance } from 'fastify';
import type { StageTelemetry } from '../../telemetry/stage-telemetry.ts';
import { buildStageServer } from '../stage-server.ts';
import type { StageDemand } from '../stage-demand.ts';
import type { StageContext, StageDefinition } from '../stage.ts';

/** A stage's server in a test: asked without a connection, or listening on a free port. */
export interface ServedStage {
  readonly inject: FastifyInstance['inject'];
  /** Its URL, without a slash at the end. */
  listen(): Promise<string>;
  close(): Promise<void>;
}

export async function serveStage(
  definition: StageDefinition,
  context: StageContext,
  demand?: StageDemand,
  telemetry?: StageTelemetry,
): Promise<ServedStage> {
  const server = await buildStageServer(definition, context, demand, telemetry);
  const urls = new WeakMap<IncomingMessage, string>();
  // Fastify for its `inject` alone: whatever is asked, the stage's server answers it.
  const shell = fastify({
    rewriteUrl: (request) => {
      urls.set(request, request.url ?? '/');
      return '/';
    },
  });
  shell.removeAllContentTypeParsers();
  shell.addContentTypeParser('*', (_request, _body, parsed) => parsed(null));
  shell.all('/', (request, reply) => {
    reply.hijack();
    request.raw.url = urls.get(request.raw) ?? '/';
    server.handle(request.raw, reply.raw);
  });
  return {
    inject: shell.inject.bind(shell),
    listen: async () => {
      const address = await server.listen({ port: 0 });
      return `http://127.0.0.1:${'port' in address ? address.port : 0}`;
    },
    close: async () => {
      await server.close();
      await shell.close();
    },
  };
}
