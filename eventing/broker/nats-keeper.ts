import { spawn } from 'node:child_process';
import { systemClock } from '#kernel/system/system-clock.ts';

/**
 * Stands between the program and nats-server and ends it with the program: the channel to the parent
 * closes however the parent dies, `kill -9` included. Arguments: the binary and its arguments. The
 * output of nats-server is the output of this process.
 */
const KILL_AFTER_MS = 5_000;

const [binary, ...args] = process.argv.slice(2);
if (binary === undefined || process.send === undefined) {
  throw new Error('nats-keeper BINARY ARGUMENTS… must be forked with a channel');
}

const server = spawn(binary, args, { stdio: ['ignore', 'inherit', 'inherit'] });
server.once('spawn', () => process.send?.({ pid: server.pid }));
server.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(127);
});
// A signal leaves no code: 128 says so, and the parent has the log.
server.once('exit', (code) => process.exit(code ?? 128));

const stop = (): void => {
  server.kill('SIGTERM');
  void systemClock.sleep(KILL_AFTER_MS).then(() => server.kill('SIGKILL'));
};
process.once('disconnect', stop);
process.once('SIGTERM', stop);
// The terminal's Ctrl-C is the parent's business: it drains first, then stops us.
process.on('SIGINT', () => {});
