import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';

export interface Served {
  url: string;
  child: ChildProcess;
  /** When it ends, by whatever cause. */
  ended: Promise<unknown>;
}

/** A home for the tests of a file: collection, file name, text. To be awaited at the top. */
export async function homeWith(collections: Record<string, Record<string, string>>): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'citeloop-page-'));
  afterAll(() => rm(home, { recursive: true, force: true }));
  for (const [collection, documents] of Object.entries(collections)) {
    await mkdir(join(home, collection));
    for (const [name, text] of Object.entries(documents)) await writeFile(join(home, collection, name), text);
    const { code, stderr } = await runInProcess(['ingest', collection, '--collection', collection], { home });
    expect(stderr).not.toContain('citeloop:');
    expect(code).toBe(0);
  }
  return home;
}

/** The built program, serving on a free port until the tests of the file are over. */
export async function serve(home: string, ...flags: string[]): Promise<Served> {
  const started = Promise.withResolvers<Served>();
  const ended = runCli(['serve', '--port', '0', '--json', '--grace', '0', ...flags], {
    home,
    env: { OPENAI_API_KEY: 'sk-none-0123456789' },
    onStart(child) {
      afterAll(async () => {
        child.kill('SIGKILL');
        await ended;
      });
      let printed = '';
      child.stdout?.on('data', (text: string) => {
        printed += text;
        const end = printed.indexOf('\n');
        if (end >= 0) started.resolve({ ...JSON.parse(printed.slice(0, end)), child, ended });
      });
    },
  });
  ended.then(
    ({ stderr }) => started.reject(new Error(`It ended before it listened: ${stderr}`)),
    started.reject,
  );
  return started.promise;
}
