import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject } from 'vitest';
import { type CliResult, runCli } from './run-cli.ts';

const BOOK = join(import.meta.dirname, '../../fixtures/book');

/** Gives a directory the sample book in its own collection, as the first search of a new user leaves it, and what that printed. */
export async function copyHomeWithBook(home: string): Promise<CliResult> {
  const printed = 'first-search.json';
  await copyPreparedHome('book', home, async (prepared) => {
    const first = await runCli(['search', 'What is ROS 2?'], { home: prepared });
    expect(first).toMatchObject({ code: 0 });
    await writeFile(join(prepared, printed), JSON.stringify(first));
  });
  const text = await readFile(join(home, printed), 'utf8');
  await rm(join(home, printed));
  return JSON.parse(text);
}

/** Gives a directory a part of the sample book in the default collection. */
export function copyHomeWithChapters(home: string): Promise<void> {
  return copyPreparedHome('chapters', home, async (prepared) => {
    expect(await runCli(['ingest', join(BOOK, 'ros2')], { home: prepared })).toMatchObject({ code: 0 });
  });
}

/** Fills `home` with what was prepared once by the first who asked, in whichever worker; all others of the same run wait for it. */
export async function copyPreparedHome(
  name: string,
  home: string,
  prepare: (directory: string) => Promise<void>,
): Promise<void> {
  const ready = join(inject('runDirectory'), name);
  const underWay = `${ready}.partial`;
  while (!existsSync(ready)) {
    const isFirst = await mkdir(underWay).then(
      () => true,
      () => false,
    );
    if (!isFirst) {
      await delay(50);
      continue;
    }
    try {
      // Another may have finished between the look and the making of the directory.
      if (existsSync(ready)) {
        await rm(underWay, { recursive: true });
        break;
      }
      await prepare(underWay);
      await rename(underWay, ready);
    } catch (error) {
      await rm(underWay, { recursive: true, force: true });
      throw error;
    }
  }
  await cp(ready, home, { recursive: true });
}
