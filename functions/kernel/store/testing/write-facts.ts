/**
 * A process of its own that inserts facts, for the store's contract suite.
 *
 * Arguments: store URL, number of facts, padding bytes. Prints "ready", waits for a line on
 * standard input
 * (so that several start together), then prints one line an acknowledged insert: `SEQ created` or
 * `SEQ exists same|different`.
 */
import { once } from 'node:events';
import { argv, stdin, stdout } from 'node:process';
import { TachographError } from '../../core/errors.ts';
import { batchId } from '../../core/ids.ts';
import { systemClock } from '../../system/system-clock.ts';
import { openStore } from '../open-store.ts';
import type { InsertOutcome, Store } from '../store.ts';

const MAX_ATTEMPTS = 500;

async function insertPatiently(store: Store, seq: number, bytes: number): Promise<InsertOutcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      const document = { seq, body: new Uint8Array(bytes).fill(seq) };
      return await store.insert('batches', batchId('v', 's', seq), document);
    } catch (error) {
      const again = error instanceof TachographError && error.kind === 'retry';
      if (!again || attempt === MAX_ATTEMPTS) throw error;
      await systemClock.sleep(2);
    }
  }
}

const [url = '', count = '0', bytes = '0'] = argv.slice(2);
const store = await openStore(url, systemClock);
stdout.write('ready\n');
await once(stdin, 'data');
for (let seq = 0; seq < Number(count); seq++) {
  const result = await insertPatiently(store, seq, Number(bytes));
  const detail = result.outcome === 'exists' ? ` ${result.same ? 'same' : 'different'}` : '';
  stdout.write(`${seq} ${result.outcome}${detail}\n`);
}
await store.close();
stdin.destroy();
