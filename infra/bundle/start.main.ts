// The start of every bundled program: loads its files with the code that V8 compiled when the program was
// run beforehand. Node's own compile cache keeps what was compiled up to the load of a file; kept here is
// what was compiled until the end of that run, with all functions that a first request needs, which saves
// a cold start another 6 ms of CPU. V8 refuses code of another version or other flags, and compiles.
import { readFileSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { Script, constants } from 'node:vm';

const isWarmUp = process.env['BUNDLE_WARM_UP'] === '1';
const compiled: { readonly script: Script; readonly codePath: string }[] = [];

const requireHere = createRequire(import.meta.url);

requireHere.extensions['.cjs'] = (module, path) => {
  const codePath = `${path}.code`;
  const code = isWarmUp ? undefined : readIfThere(codePath);
  const script = new Script(Module.wrap(readFileSync(path, 'utf8')), {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(code === undefined ? {} : { cachedData: code }),
  });
  if (isWarmUp) compiled.push({ script, codePath });
  const load = script.runInThisContext() as ModuleWrapper;
  load.call(module.exports, module.exports, createRequire(path), module, path, folderOf(path));
};

type ModuleWrapper = (
  exports: unknown,
  require: NodeJS.Require,
  module: NodeJS.Module,
  path: string,
  folder: string,
) => void;

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

/** Without `node:path`, which is one more thing to load. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')));
}

if (isWarmUp) {
  process.on('exit', () => {
    for (const { script, codePath } of compiled) {
      writeFileSync(codePath, script.createCachedData());
    }
  });
}

requireHere('./main.cjs');
