import { ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * A shell that is told of every child that starts (`+ id`) and ends (`- id`), and of directories (`rm path`). Its input
 * ends with this process, also where that is killed without a warning; then it ends the children that are left and
 * removes the directories.
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

/**
 * Every process that tests start goes through here, right when it is started: it ends when the tests are gone,
 * however that came about.
 */
export function endWithParent<T extends ChildProcess | { child: ChildProcess }>(started: T): T {
  const child: ChildProcess = started instanceof ChildProcess ? started : started.child;
  const { pid } = child;
  if (pid !== undefined) {
    tellWatcher(`+ ${pid}`);
    child.once('exit', () => tellWatcher(`- ${pid}`));
  }
  return started;
}

/** For directories of children that nobody will have ended before. */
export function removeWithParent(directory: string): string {
  tellWatcher(`rm ${directory}`);
  return directory;
}

function tellWatcher(line: string): void {
  watcher ??= startWatcher();
  watcher.stdin?.write(`${line}\n`);
}

/** It keeps nobody from ending: that is what it waits for. */
function startWatcher(): ChildProcess {
  const started = spawn('sh', ['-c', WATCHER], { stdio: ['pipe', 'ignore', 'ignore'] });
  started.unref();
  if (started.stdin instanceof Socket) started.stdin.unref();
  return started;
}
