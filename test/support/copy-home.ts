import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject } from 'vitest';
import { type CliResult, runCli } from './run-cli.ts';

const BOOK = join(import.meta.dirname, '../../fixtures/book');

/** Fills a home with the sample book, as the first search of a new user leaves it, and returns the result of that search. */
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

/** Fills a home with a part of the sample book in the default collection. */
export function copyHomeWithChapters(home: string): Promise<void> {
  return copyPreparedHome('chapters', home, async (prepared) => {
    expect(
      await runCli(['ingest', join(BOOK, 'ros2'), '-c', 'web_documents'], { home: prepared }),
    ).toMatchObject({ code: 0 });
  });
}

/** Copies a home that is prepared once per test run; other workers wait until it is ready. */
export async function copyPreparedHome(
  name: string,
  home: string,
  prepare: (directory: string) => Promise<void>,
): Promise<void> {
  const ready = join(inject('runDirectory'), name);
  const partial = `${ready}.partial`;
  while (!existsSync(ready)) {
    const isFirst = await mkdir(partial).then(
      () => true,
      () => false,
    );
    if (!isFirst) {
      await delay(50);
      continue;
    }
    try {
      // Another worker may have finished between the check and the mkdir.
      if (existsSync(ready)) {
        await rm(partial, { recursive: true });
        break;
      }
      await prepare(partial);
      await rename(partial, ready);
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  }
  await cp(ready, home, { recursive: true });
}
