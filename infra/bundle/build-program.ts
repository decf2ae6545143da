import { basename, dirname, join, relative } from 'node:path';
import type { Plugin, RolldownLog } from 'rolldown';
import { TachographError } from '#kernel/core/errors.ts';

/** Of a program's folder: run this one. */
export const START_FILE = 'start.cjs';
const START_SOURCE = 'infra/bundle/start.main.ts';

/**
 * Bundles a program into `folder`: `start.cjs`, `main.cjs`, one file for what each `import()` loads, one
 * for each worker.
 *
 * CommonJS, since Node's loader of ES modules alone costs a cold start 30 ms; not minified, which gains
 * nothing measurable and would make stack traces unreadable. Throws BUNDLE_FAILED.
 */
export async function buildProgram(root: string, entry: string, folder: string): Promise<void> {
  const workers = await bundle(root, join(root, entry), { name: 'main', format: 'cjs' }, folder);
  // Apart from the program: a worker that shared a file with it would run it. ES modules, which may
  // wait at their top level; a worker's start is rarely anybody's wait.
  for (const worker of workers) {
    await bundle(root, worker, { name: basename(worker, '.ts'), format: 'es' }, folder);
  }
  await bundle(root, join(root, START_SOURCE), { name: 'start', format: 'cjs' }, folder);
}

interface OutputShape {
  readonly name: string;
  readonly format: 'cjs' | 'es';
}

/** Returns the paths of the workers that the program starts. */
async function bundle(
  root: string,
  input: string,
  { name, format }: OutputShape,
  folder: string,
): Promise<readonly string[]> {
  const entry = relative(root, input);
  const faults: string[] = [];
  const workers = new Set<string>();
  // Loaded only when there is something to build.
  const { rolldown } = await import('rolldown');
  try {
    const build = await rolldown({
      cwd: root,
      input: { [name]: input },
      platform: 'node',
      plugins: [workerFiles(workers)],
      onLog: (level, log) => {
        if (level === 'warn' && isFault(log)) faults.push(log.message);
      },
    });
    try {
      await build.write({
        dir: folder,
        format,
        // `import('http')` makes a view of all its exports, one of which loads Node's fetch: 40 ms in the
        // middle of the first export of spans. `require('http')` does not.
        dynamicImportInCjs: false,
        entryFileNames: `[name].${format === 'cjs' ? 'cjs' : 'mjs'}`,
        chunkFileNames: `${name}-[name]-[hash].${format === 'cjs' ? 'cjs' : 'mjs'}`,
      });
    } finally {
      await build.close();
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new TachographError('BUNDLE_FAILED', { entry, detail }, { cause: error });
  }
  if (faults.length > 0) {
    throw new TachographError('BUNDLE_FAILED', { entry, detail: faults.join('; ') });
  }
  return [...workers];
}

/** Code that would do something else than from source; other people's packages have their own habits. */
const isFault = (log: RolldownLog): boolean =>
  log.code === 'EMPTY_IMPORT_META' || log.code === 'UNRESOLVED_IMPORT';

/** `new Worker(new URL('./burn-worker.ts', import.meta.url)` → './burn-worker.mjs', noted in `found`. */
const WORKER = /(new Worker\(\s*new URL\(\s*')(\.\/[\w.-]+)\.ts(',\s*import\.meta\.url)/g;

function workerFiles(found: Set<string>): Plugin {
  return {
    name: 'worker-files',
    transform(code, id) {
      if (!WORKER.test(code)) return null;
      return code.replaceAll(WORKER, (_, before: string, path: string, after: string) => {
        found.add(join(dirname(id), `${path}.ts`));
        return `${before}${path}.mjs${after}`;
      });
    },
  };
}
