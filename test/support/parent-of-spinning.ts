import { spawn } from 'node:child_process';
import { endWithParent } from './end-with-parent.ts';

// A stand-in for a worker of the tests, run as a process of its own: starts one child that ended, one that computes
// for ever and a foreign one that sleeps, prints the ids of these two, and then hears nothing any more.

const ended = endWithParent(spawn(process.execPath, ['-e', '']));
const spinning = endWithParent(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
const sleeping = endWithParent(spawn('sleep', ['600'], { stdio: 'ignore' }));
ended.once('close', () => {
  process.stdout.write(`${JSON.stringify([spinning.pid, sleeping.pid])}\n`, () => {
    for (;;);
  });
});
