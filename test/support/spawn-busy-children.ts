import { spawn } from 'node:child_process';
import { endWithParent } from './end-with-parent.ts';

// Run by end-with-parent.test.ts as a parent process: starts a child that exits, one that computes endlessly and one
// that sleeps, prints the process ids of the last two, and then blocks its own event loop.

const ended = endWithParent(spawn(process.execPath, ['-e', '']));
const spinning = endWithParent(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
const sleeping = endWithParent(spawn('sleep', ['600'], { stdio: 'ignore' }));
ended.once('close', () => {
  process.stdout.write(`${JSON.stringify([spinning.pid, sleeping.pid])}\n`, () => {
    for (;;);
  });
});
