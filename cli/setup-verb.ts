import { explainNats } from '#eventing/broker/find-nats.ts';
import { readNatsRelease } from '#eventing/broker/nats-release.ts';
import { searchNats } from '#infra/local/local-nats.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Verb } from './verb.ts';

/** `tachograph setup`: what `make setup` does after the npm modules are there. */
export const setupVerb: Verb = {
  name: 'setup',
  summary: 'makes nats-server available: finds it, or downloads or builds the pinned one',
  details: [
    'Order: NATS_URL, the PATH, the cache (.tachograph/cache), the official release checked against',
    'its SHA-256, "go install". The first that works is used; each failure is told in one line.',
  ],
  options: {},
  async run({ root, env, terminal }) {
    const search = await searchNats(
      { root, env, platform: process.platform, architecture: process.arch },
      { install: true, onProgress: (line) => terminal.note(line) },
    );
    terminal.document(search);
    const found = search.attempts.find(({ ok }) => ok);
    if (found === undefined) {
      const { minimumVersion: minimum } = await readNatsRelease();
      throw new TachographError('NATS_NOT_FOUND', { minimum, detail: explainNats(search) });
    }
    terminal.print(`nats-server: ${found.detail} (${found.source})`);
    return 0;
  },
};
