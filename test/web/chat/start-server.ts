import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { type RunningProgram, runProgram } from '../../server/start-program.ts';
import { runInProcess } from '../../support/run-in-process.ts';

/** The servers of the current test file. */
const running: RunningProgram[] = [];

/** Ingests documents, given as collection, file name and text, for the tests of a file. Call it at the top level. */
export async function createHome(collections: Record<string, Record<string, string>>): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'citeloop-page-'));
  afterAll(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.splice(0).map(({ ended }) => ended));
    await rm(home, { recursive: true, force: true });
  });
  for (const [collection, documents] of Object.entries(collections)) {
    await mkdir(join(home, collection));
    for (const [name, text] of Object.entries(documents)) await writeFile(join(home, collection, name), text);
    const { code, stderr } = await runInProcess(['ingest', collection, '--collection', collection], { home });
    expect(stderr).not.toContain('citeloop:');
    expect(code).toBe(0);
  }
  return home;
}

/** Runs the built program with `serve` on a free port until the tests of the file have ended. */
export async function startServer(home: string, ...flags: string[]): Promise<RunningProgram> {
  const env = { OPENAI_API_KEY: 'sk-none-0123456789' };
  const program = await runProgram(['serve', '--grace', '0', ...flags], { home, env });
  running.push(program);
  return program;
}
