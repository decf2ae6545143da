import { expect, test } from 'vitest';
import { STAGE_NAMES } from '#eventing/contracts/catalog.ts';
import { loadedWith } from './imports.ts';
import { sourceFiles } from './source-files.ts';

const files = new Map(sourceFiles(/\.ts$/).map((file) => [file.path, file]));

/** Every file of the repository that a program loads before it has done anything. */
function loadedBy(entry: string): Set<string> {
  const loaded = new Set<string>();
  const visit = (path: string): void => {
    const file = files.get(path);
    if (file === undefined || loaded.has(path)) return;
    loaded.add(path);
    for (const target of loadedWith(file)) visit(target);
  };
  visit(entry);
  return loaded;
}

const burner = (paths: Iterable<string>): string[] =>
  [...paths].filter((path) => /^functions\/kernel\/(demand|calibration)\//.test(path));

test.each(STAGE_NAMES)('the start of %s loads nothing of the burner of CPU demands', (stage) => {
  const loaded = loadedBy(`functions/${stage}/main.ts`);
  expect(loaded).toContain('functions/kernel/runtime/stage-server.ts');
  expect(burner(loaded)).toEqual([]);
});

test.each(STAGE_NAMES)(
  'the start of %s loads neither tracing nor a REST face with its code',
  (stage) => {
    const loaded = loadedBy(`functions/${stage}/main.ts`);
    expect(loaded).toContain('functions/kernel/runtime/event-routes.ts');
    expect(loaded).not.toContain('functions/kernel/runtime/rest-app.ts');
    expect(loaded).not.toContain('functions/kernel/telemetry/start.ts');
  },
);

test('what a stage loads when a demand is set is the burner: the check above can fail', () => {
  const loaded = loadedBy('functions/kernel/runtime/open-demand.ts');
  expect(burner(loaded)).toContain('functions/kernel/demand/parse-demand.ts');
});
