import { brokerBench } from './broker-bench.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
console.log(await brokerBench(systemClock, '/tmp/natsbin/nats-server'));
