import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endWithParent } from './end-with-parent.ts';

test('children are killed when their parent is killed', async () => {
  const script = join(import.meta.dirname, 'spawn-busy-children.ts');
  const parent = endWithParent(spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const [line] = (await once(parent.stdout.setEncoding('utf8'), 'data')) as [string];
  const children = JSON.parse(line) as number[];
  expect(children.map(isRunning)).toEqual([true, true]);
  parent.kill('SIGKILL');
  await once(parent, 'close');
  await expect.poll(() => children.map(isRunning)).toEqual([false, false]);
});

test('tests start every process with endWithParent', () => {
  const bare = globSync('test/**/*.ts')
    .filter((file) => !file.endsWith('support/end-with-parent.ts'))
    .filter((file) =>
      /(?<!endWithParent\(\s*)(?:\bspawn\(|\bfork\(|promisify\(execFile\)\()/.test(
        readFileSync(file, 'utf8'),
      ),
    );
  expect(bare).toEqual([]);
});

/** A zombie is not running. */
function isRunning(pid: number): boolean {
  if (existsSync('/proc/self/stat')) return /\) [^Z]/.test(contentOf(`/proc/${pid}/stat`));
  const { stdout } = spawnSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z\s]/.test(stdout);
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
