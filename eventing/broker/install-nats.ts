import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { sha256Hex } from '#kernel/system/sha256.ts';

const run = promisify(execFile);

/** Some networks drop the packets instead of refusing: give up early, there is another way. */
const CONNECT_TIMEOUT_MS = 5_000;
const DOWNLOAD_TIMEOUT_MS = 60_000;
const GO_TIMEOUT_MS = 600_000;
/** The archives have 6 to 8 MB. */
const MAX_ARCHIVE_BYTES = 64 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/**
 * Fetches an archive, checks its SHA-256 and puts the binary in it at `binary`. Throws when the host
 * cannot be reached or the content is another; then nothing is left behind.
 */
export async function downloadNats(options: {
  readonly url: string;
  readonly sha256: string;
  readonly binary: string;
}): Promise<void> {
  const archive = await fetchArchive(options.url);
  const actual = sha256Hex(archive);
  if (actual !== options.sha256) {
    throw new Error(`${options.url} has SHA-256 ${actual}, pinned is ${options.sha256}`);
  }
  await withWorkFolder(options.binary, async (folder) => {
    const file = join(folder, 'archive.tar.gz');
    await writeFile(file, archive);
    await run('tar', ['-xzf', file, '-C', folder, '--strip-components=1']);
    return join(folder, 'nats-server');
  });
}

async function fetchArchive(url: string): Promise<Buffer> {
  const dispatcher = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: CONNECT_TIMEOUT_MS * 2,
    bodyTimeout: CONNECT_TIMEOUT_MS * 2,
  });
  try {
    const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
    let location = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const answer = await request(location, { dispatcher, signal });
      const next = answer.headers['location'];
      if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof next === 'string') {
        await answer.body.dump();
        location = new URL(next, location).href;
        continue;
      }
      if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`);
      return await collect(answer.body);
    }
    throw new Error(`${url} redirects more than ${MAX_REDIRECTS} times`);
  } finally {
    await dispatcher.destroy();
  }
}

async function collect(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ARCHIVE_BYTES)
      throw new Error(`the archive exceeds ${MAX_ARCHIVE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Builds the module with the Go on the PATH and puts the binary at `binary`. */
export async function installNatsByGo(options: {
  readonly module: string;
  readonly binary: string;
}): Promise<void> {
  await withWorkFolder(options.binary, async (folder) => {
    try {
      // `go env -w` settings and GOFLAGS of the user stay in force, GOBIN alone is ours.
      await run('env', [`GOBIN=${folder}`, 'go', 'install', options.module], {
        timeout: GO_TIMEOUT_MS,
        maxBuffer: 16 * 1024 * 1024,
      });
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string };
      const last = stderr.trim().split('\n').at(-1) ?? '';
      throw new Error(`go install ${options.module} failed: ${last}`, { cause: error });
    }
    return join(folder, 'nats-server');
  });
}

/** Two processes may install at once: each works in its own folder, and the last rename wins. */
async function withWorkFolder(
  binary: string,
  make: (folder: string) => Promise<string>,
): Promise<void> {
  const folder = await mkdtemp(join(dirname(binary), 'install-'));
  try {
    const made = await make(folder);
    await chmod(made, 0o755);
    await rename(made, binary);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
