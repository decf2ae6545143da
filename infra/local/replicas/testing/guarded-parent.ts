import { silentLog } from '#kernel/system/log.ts';
import { OrphanGuard } from '../orphan-guard.ts';
import { spawnProcess, type ProcessRequest } from '../spawn-process.ts';

/** `guarded-parent.ts FOLDER REQUEST` starts that process under a guard, tells both ids, and waits. */
const guard = new OrphanGuard({ graceS: 1, folders: [process.argv[2] ?? ''], log: silentLog });
const child = spawnProcess(JSON.parse(process.argv[3] ?? '{}') as ProcessRequest);
guard.add(child.pid ?? 0);
await child.listening;
process.send?.({ child: child.pid, guard: guard.pid });
process.on('message', () => {});
