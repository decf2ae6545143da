import { explainNats } from '#eventing/broker/find-nats.ts';
import { readNatsRelease } from '#eventing/broker/nats-release.ts';
import { STAGE_NAMES } from '#eventing/contracts/catalog.ts';
import { ensureBundles } from '#infra/bundle/ensure-bundles.ts';
import { searchNats } from '#infra/local/local-nats.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import type { Verb } from './verb.ts';

/** `tachograph setup`: what `make setup` does after the npm modules are there. */
export const setupVerb: Verb = {
  name: 'setup',
  summary: 'bundles the stages, and makes nats-server available: finds, downloads or builds it',
  details: [
    'Bundles (.tachograph/bundle) let a stage start in a fifth of the time that its sources take; they',
    'are made anew when sources, packages or Node have changed.',
    'nats-server is looked for in NATS_URL, on the PATH, in the cache (.tachograph/cache), as the official',
    'release (checked against its SHA-256), by "go install". The first that works is used; each failure',
    'is told in one line.',
  ],
  options: {},
  async run({ root, env, terminal }) {
    const onNote = (line: string): void => terminal.note(line);
    const entries = STAGE_NAMES.map((stage) => `functions/${stage}/main.ts`);
    const { execPath: node, version: nodeVersion } = process;
    const made = { clock: systemClock, node, nodeVersion, onNote };
    const bundles = Object.fromEntries(await ensureBundles(root, entries, made));
    const search = await searchNats(
      { root, env, platform: process.platform, architecture: process.arch },
      { install: true, onProgress: onNote },
    );
    terminal.document({ ...search, bundles });
    const found = search.attempts.find(({ ok }) => ok);
    if (found === undefined) {
      const { minimumVersion: minimum } = await readNatsRelease();
      throw new TachographError('NATS_NOT_FOUND', { minimum, detail: explainNats(search) });
    }
    terminal.print(`bundles: ${entries.length} stages`);
    terminal.print(`nats-server: ${found.detail} (${found.source})`);
    return 0;
  },
};
