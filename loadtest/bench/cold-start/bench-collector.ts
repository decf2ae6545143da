import { createServer } from 'node:http';

/** Takes events and spans. */
export async function startBenchCollector(): Promise<{
  readonly url: string;
  close(): Promise<void>;
}> {
  const server = createServer((asked, answer) => {
    asked.resume();
    asked.once('end', () => answer.writeHead(asked.url === '/' ? 202 : 200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
