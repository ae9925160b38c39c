import { ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * A shell script that reads which children start (`+ pid`) and end (`- pid`), and which directories to remove
 * (`rm path`). Its input ends with this process, even if that is killed; then it kills the remaining children and removes
 * the directories.
 */
const WATCHER = `trap '' INT TERM HUP
left=' '
while read -r sign name; do
  case $sign in
    +) left="$left$name " ;;
    -) left="\${left%" $name "*} \${left#*" $name "}" ;;
    rm) set -- "$@" "$name" ;;
  esac
done
for id in $left; do kill -9 "$id"; done
rm -rf "$@"`;

let watcher: ChildProcess | undefined;

/** Kills a child process when this process ends, even if this process is killed. Tests wrap every spawn in it. */
export function endWithParent<T extends ChildProcess | { child: ChildProcess }>(started: T): T {
  const child: ChildProcess = started instanceof ChildProcess ? started : started.child;
  const { pid } = child;
  if (pid !== undefined) {
    sendToWatcher(`+ ${pid}`);
    child.once('exit', () => sendToWatcher(`- ${pid}`));
  }
  return started;
}

/** Removes a directory when this process ends, after its children. */
export function removeWithParent(directory: string): string {
  sendToWatcher(`rm ${directory}`);
  return directory;
}

function sendToWatcher(line: string): void {
  watcher ??= startWatcher();
  watcher.stdin?.write(`${line}\n`);
}

/** Unreferenced, so that it does not keep this process alive. */
function startWatcher(): ChildProcess {
  const started = spawn('sh', ['-c', WATCHER], { stdio: ['pipe', 'ignore', 'ignore'] });
  started.unref();
  if (started.stdin instanceof Socket) started.stdin.unref();
  return started;
}
