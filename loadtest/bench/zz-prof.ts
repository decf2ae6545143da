import { startNatsServer } from '#eventing/broker/nats-server.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { BenchProcess } from './broker/bench-process.ts';
import { startEventing } from '#eventing/dispatch/start-eventing.ts';
import { testTrigger } from '#eventing/testing/test-eventing.ts';
import { randomStream } from '#kernel/core/random.ts';
import { silentLog } from '#kernel/system/log.ts';
import { mkdtempSync, rmSync } from 'node:fs';
const dir = mkdtempSync('/tmp/evprof-');
const server = await startNatsServer({
  binary: '/tmp/natsbin/nats-server',
  storeDir: dir,
  clock: systemClock,
  goMaxProcs: 1,
});
const fn = await BenchProcess.start('bench-function.ts', 'lean');
const generator = await BenchProcess.start('closed-loop.ts');
const ev = await startEventing({
  natsUrl: server.url,
  brokers: [{ namespace: 'tests', name: 'lean' }],
  triggers: [
    testTrigger('lean', { maxInFlight: 64, subscriber: { uri: `http://127.0.0.1:${fn.port}/` } }),
  ],
  resolveUri: (d) => d.uri!,
  clock: systemClock,
  random: randomStream(1, 'x'),
  log: silentLog,
});
for (let r = 0; r < 4; r++) {
  const c0 = process.cpuUsage(),
    f0 = await fn.cpuUs(),
    t0 = performance.now();
  fn.tell({ kind: 'expect', events: 6000 });
  const rec = fn.answer('received');
  const s = generator.answer('sent');
  generator.tell({
    kind: 'send',
    url: `${ev.ingressUrl}/tests/lean`,
    mode: 'lean',
    round: String(r),
    events: 6000,
  });
  await Promise.all([rec, s]);
  const c = process.cpuUsage(c0);
  console.log(
    'hop',
    (c.user + c.system) / 6000,
    'fn',
    ((await fn.cpuUs()) - f0) / 6000,
    'rate',
    (6000 / (performance.now() - t0)) * 1000,
  );
}
await ev.stop();
await fn.stop();
await generator.stop();
await server.stop();
rmSync(dir, { recursive: true });
