// The function of the recorded run: 50 ms of CPU time for each request.
import { createServer } from 'node:http';

const BURN_US = 50_000;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const before = process.cpuUsage();
    for (;;) {
      const { user, system } = process.cpuUsage(before);
      if (user + system >= BURN_US) break;
    }
    response.writeHead(204).end();
  });
});
const stop = (): void => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
};
process.on('SIGTERM', stop);
process.on('disconnect', stop);
const listening = (): void => {
  const address = server.address();
  if (address === null) return;
  const where = typeof address === 'string' ? { socketPath: address } : { port: address.port };
  process.send?.({ type: 'listening', address: where });
};
const socketPath = process.env['LISTEN_SOCKET'];
if (socketPath === undefined) server.listen(Number(process.env['PORT']), '127.0.0.1', listening);
else server.listen(socketPath, listening);
