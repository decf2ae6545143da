#!/usr/bin/env node
// Runs under any Node from 20 on and hands over to the pinned Node of node_modules, which runs the
// TypeScript sources as they are.
import { spawn } from 'node:child_process';
import { accessSync, constants as modes, existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinned = join(root, 'node_modules', 'node', 'bin', 'node');

const verb = process.argv[2];
if (verb === '--version') version();
else if (existsSync(pinned)) run();
else if (verb === 'doctor') bareDoctor();
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

function version() {
  const { version: number } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  process.stdout.write(`${number}\n`);
}

/** What "doctor" can say before there are modules: plain text, and exit code 1, since they are missing. */
function bareDoctor() {
  const onPath = (name) => {
    const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
    return paths.find((path) => {
      try {
        accessSync(path, modes.X_OK);
        return true;
      } catch (error) {
        if (error.code === undefined) throw error;
        return false;
      }
    });
  };
  const nats = onPath('nats-server');
  const go = onPath('go');
  const lines = [
    `ok      node           ${process.version} starts this program; the project brings its own`,
    `missing modules        nothing is installed in ${root}`,
    '                       → make setup',
    nats === undefined
      ? 'absent  nats-server    not on the PATH; "make setup" looks for other ways to get it'
      : `ok      nats-server    ${nats}`,
    go === undefined
      ? 'absent  go             not on the PATH; optional: builds nats-server where there is none'
      : `ok      go             ${go}`,
    'Something required is missing.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = 1;
}
