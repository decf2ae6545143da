import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { StageName } from '#eventing/contracts/catalog.ts';

/** Files of Swagger UI, by name, with their types. Everything else is not served. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

// Links are relative, so that the page also works behind a gateway that strips a path prefix.
const page = (stage: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${stage} API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="docs/swagger-ui.css"></head>
<body><div id="ui"></div><script src="docs/swagger-ui-bundle.js"></script>
<script>SwaggerUIBundle({ url: 'openapi.json', dom_id: '#ui', deepLinking: true })</script>
</body></html>`;

/**
 * Describes the stage's REST routes at `/openapi.json` and makes them browsable at `/docs`.
 *
 * Swagger UI's files are read from its package when the page is asked for, not at start: its fastify
 * plug-in would cost every cold start for a page that is rarely opened.
 */
export async function serveApiPages(
  app: FastifyInstance,
  stage: StageName,
  software: string,
): Promise<void> {
  const { default: swagger } = await import('@fastify/swagger');
  await app.register(swagger, {
    openapi: {
      info: { title: `Tachograph ${stage}`, version: software.replace(/^.*\//, '') },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
  });
  const hidden = { schema: { hide: true } } as const;
  // Relative to the document itself: right behind a gateway's path prefix too.
  app.get('/openapi.json', hidden, () => ({ ...app.swagger(), servers: [{ url: './' }] }));
  app.get('/docs', hidden, (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page(stage)),
  );
  app.get<{ Params: { asset: string } }>('/docs/:asset', hidden, async (request, reply) => {
    const type = ASSETS[request.params.asset];
    if (type === undefined) return reply.callNotFound();
    const require = createRequire(import.meta.url);
    const entry = require.resolve('@fastify/swagger-ui');
    const file = join(dirname(entry), 'static', request.params.asset);
    return reply.type(type).send(await readFile(file));
  });
}
