import { spawnProcess, type ProcessRequest } from '../spawn-process.ts';

/** `spawning-parent.ts REQUEST` starts that process, tells its id when it listens, and waits. */
const child = spawnProcess(JSON.parse(process.argv[2] ?? '{}') as ProcessRequest);
await child.listening;
process.send?.(child.pid);
process.on('message', () => {});
