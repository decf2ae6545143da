import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from './command-line.ts';

/**
 * `node cli/main.ts VERB …`: gives the command line its surroundings and the process its exit code.
 *
 * The first SIGINT or SIGTERM asks the verb to stop in order; the verb bounds how long that takes. The
 * wrapper in bin/ holds a channel: when it is killed outright, that counts as SIGTERM.
 */
const interrupt = new AbortController();
let signalCode = 0;
const stop = (code: number) => (): void => {
  if (signalCode !== 0) return;
  signalCode = code;
  interrupt.abort(new Error('Interrupted'));
};
process.on('SIGINT', stop(130));
process.on('SIGTERM', stop(143));
process.on('SIGHUP', stop(129));
process.once('disconnect', stop(143));

// Whoever reads (`… | head -1`) may stop reading: nothing more is to be said, as by SIGPIPE.
// What a full disk does not take is said on the other stream.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (signalCode !== 0) return;
    stop(error.code === 'EPIPE' ? 141 : 1)();
    if (error.code !== 'EPIPE' && stream === process.stdout) {
      process.stderr.write(`tachograph: the result cannot be written: ${error.message}\n`);
    }
  });
}

const code = await runCommandLine(process.argv.slice(2), {
  root: dirname(dirname(fileURLToPath(import.meta.url))),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupt.signal,
});
process.exitCode = signalCode === 0 ? code : signalCode;
if (process.connected) process.disconnect();
