import { join } from 'node:path';
import { expect } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CHAPTERS = join(import.meta.dirname, '../../fixtures/book/ros2');

/** A data directory whose default collection holds a part of the sample book, quicker to index than all of it. */
export async function homeWithDocuments(): Promise<string> {
  const home = await temporaryDirectory();
  expect(await runCli(['ingest', CHAPTERS], { home })).toMatchObject({ code: 0 });
  return home;
}
