import { open, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { AppError } from '../domain/app-error.ts';

/** Keeps other processes from recording to the same tape. Throws `invalid_input` if one does already. */
export async function lockTape(path: string): Promise<() => Promise<void>> {
  const lock = `${path}.lock`;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const file = await open(lock, 'wx');
      await file.writeFile(`${hostname()} ${process.pid}\n`);
      await file.close();
      return () => rm(lock, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const holder = await readFile(lock, 'utf8').catch(() => '');
      // A lock that its process left behind is taken over; one retry settles a race between two who do.
      if (attempt > 0 || !isDead(holder)) throw taken(path, lock, holder);
      await rm(lock, { force: true });
    }
  }
}

function isDead(holder: string): boolean {
  const [host, pid] = holder.trim().split(' ');
  if (host !== hostname() || !(Number(pid) > 0)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function taken(path: string, lock: string, holder: string): AppError {
  const who = holder.trim() === '' ? 'Another process' : `Process ${holder.trim().split(' ').at(-1)}`;
  return new AppError('invalid_input', `${who} is recording to ${path}.`, {
    hint: `Wait until it is done, or record to another file. If there is no such process, delete ${lock}.`,
  });
}
