import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import type { SourceFile } from './source-files.ts';

const MAP: Readonly<Record<string, string>> = {
  '#kernel/': 'functions/kernel/',
  '#functions/': 'functions/',
  '#eventing/': 'eventing/',
  '#infra/': 'infra/',
  '#loadtest/': 'loadtest/',
  '#cli/': 'cli/',
};

/** A module specifier as a path of the repository, or as it stands when it names a package. */
export function resolveImport(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  for (const [prefix, folder] of Object.entries(MAP)) {
    if (specifier.startsWith(prefix)) return folder + specifier.slice(prefix.length);
  }
  return specifier;
}

const LITERAL = /^['"](.+)['"]$/;

/** Everything a file imports or re-exports, types and `import()` of a literal included. */
export function importsOf(file: SourceFile): string[] {
  const { module, errors } = parseSync(file.path, file.text);
  const first = errors[0];
  if (first !== undefined) throw new Error(`${file.path}: ${first.message}`);
  const specifiers = [
    ...module.staticImports.map((one) => one.moduleRequest.value),
    ...module.staticExports.flatMap((one) =>
      one.entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.flatMap((one) => {
      const text = file.text.slice(one.moduleRequest.start, one.moduleRequest.end);
      return LITERAL.exec(text)?.[1] ?? [];
    }),
  ];
  return [...new Set(specifiers)].map((specifier) => resolveImport(file.path, specifier));
}

/** What is loaded with a file at its start: neither what only types come from, nor `import()`. */
export function loadedWith(file: SourceFile): string[] {
  const { module } = parseSync(file.path, file.text);
  const specifiers = [
    ...module.staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
      .map((one) => one.moduleRequest.value),
    ...module.staticExports.flatMap((one) =>
      one.entries.flatMap(({ isType, moduleRequest }) =>
        isType || moduleRequest === null ? [] : [moduleRequest.value],
      ),
    ),
  ];
  return [...new Set(specifiers)].map((specifier) => resolveImport(file.path, specifier));
}
