import { takeClusterLock } from '../cluster-lock.ts';

/** `lock-holder.ts FOLDER` takes the lock, says so, and keeps it until it is killed. */
await takeClusterLock(process.argv[2] ?? '', process.pid);
process.send?.('locked');
process.on('message', () => {});
