// The least there can be: what a cold start takes beyond this one is the program's. Plain JavaScript, since
// to strip types from a file costs a start 45 ms.
const { createServer } = require('node:http');

const socketPath = process.env.LISTEN_SOCKET;
const server = createServer((asked, answer) => {
  asked.resume();
  asked.once('end', () => answer.writeHead(204).end());
});
server.listen(socketPath, () => process.send({ type: 'listening', address: { socketPath } }));
process.once('SIGTERM', () => process.exit(0));
