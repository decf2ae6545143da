#!/usr/bin/env node
// Runs under any Node from 20 on and hands over to the pinned Node of node_modules, which runs the
// TypeScript sources as they are.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinned = join(root, 'node_modules', 'node', 'bin', 'node');

if (existsSync(pinned)) run();
else {
  process.stderr.write(`tachograph: nothing is installed in ${root}; run "make setup" first\n`);
  process.exitCode = 1;
}

function run() {
  const child = spawn(pinned, [join(root, 'cli', 'main.ts'), ...process.argv.slice(2)], {
    // Compiled sources are kept between runs, the stages' too: a start takes two thirds of the time.
    env: { NODE_COMPILE_CACHE: join(root, '.tachograph', 'cache', 'compile'), ...process.env },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // A terminal sends Ctrl-C to both; what is sent to this process alone (kill, a supervisor) is passed
  // on. The child takes a second signal of a kind for the same request.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  child.on('error', (error) => {
    process.stderr.write(`tachograph: cannot start ${pinned}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
  });
}
