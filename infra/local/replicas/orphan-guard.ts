import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Log } from '#kernel/system/log.ts';

/**
 * Reads `+ PID` and `- PID` lines. When they end, the parent is gone: the process groups that are left
 * have $1 seconds to end by themselves, which a stage does when its channel closes; then they are killed,
 * and the groups' folders ($2 …) are removed with the groups and sockets in them.
 */
const SCRIPT = `
grace=$1
shift
left=' '
while read -r op pid; do
  case "$op" in
    +) left="$left$pid " ;;
    -) case "$left" in *" $pid "*) left="\${left%% $pid *} \${left#* $pid }" ;; esac ;;
  esac
done
while [ "$grace" -gt 0 ]; do
  living=' '
  for pid in $left; do
    if kill -0 "-$pid" 2>/dev/null; then living="$living$pid "; fi
  done
  left=$living
  if [ "$left" = ' ' ]; then break; fi
  sleep 1
  grace=$((grace - 1))
done
for pid in $left; do kill -KILL "-$pid" 2>/dev/null; done
for tries in 1 2 3 4 5; do
  rest=no
  for folder in "$@"; do
    rm -f "$folder"/*.sock
    for inner in "$folder"/*/*/ "$folder"/*/ "$folder"; do
      if [ -d "$inner" ]; then rmdir "$inner" 2>/dev/null || rest=yes; fi
    done
  done
  if [ "$rest" = no ]; then break; fi
  sleep 1
done
`;

export interface OrphanGuardOptions {
  /** Process groups that are left have so long to end by themselves. */
  readonly graceS: number;
  /** Folders of groups and of sockets, to be removed. */
  readonly folders: readonly string[];
  readonly log: Log;
}

/**
 * A shell that outlives this process just long enough to see that no stage does.
 *
 * A stage ends by itself when its channel closes; one that hangs does not see that. The guard holds a
 * pipe from here and knows all process groups; however this process ends, the pipe closes.
 */
export class OrphanGuard {
  readonly #shell: ChildProcess;
  readonly #log: Log;
  #lost = false;

  constructor({ graceS, folders, log }: OrphanGuardOptions) {
    this.#log = log;
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'orphan-guard', String(graceS), ...folders], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#shell.on('error', (error) => this.#lose(error));
    this.#shell.stdin?.on('error', (error) => this.#lose(error));
    // It is not what this process runs for.
    this.#shell.unref();
  }

  get pid(): number | undefined {
    return this.#shell.pid;
  }

  /** `pid` leads a process group. */
  add(pid: number): void {
    this.#say(`+ ${pid}\n`);
  }

  /** The group is gone. */
  remove(pid: number): void {
    this.#say(`- ${pid}\n`);
  }

  /** Nothing is left to guard; resolves when the shell has ended. */
  async close(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#shell;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const exited = once(this.#shell, 'exit');
    this.#shell.ref();
    this.#shell.stdin?.end();
    await exited;
  }

  #say(line: string): void {
    if (!this.#lost) this.#shell.stdin?.write(line);
  }

  #lose(error: Error): void {
    if (!this.#lost) this.#log.warn('nobody guards against orphans', { why: error.message });
    this.#lost = true;
  }
}
