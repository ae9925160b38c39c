import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { copyPreparedHome } from './copy-home.ts';
import { SERVED_MODEL, startOfflineModelServer } from './offline-model-server.ts';
import type { CliOptions } from './run-cli.ts';
import { runInProcess } from './run-in-process.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

/** Creates a home with a small collection, whose documents have web URLs. */
export async function createSmallHome(): Promise<CliOptions> {
  const home = await createTemporaryDirectory();
  await copyPreparedHome('small', home, async (prepared) => {
    await writeFile(
      join(prepared, 'nodes.md'),
      '# Nodes\n\nA node is a process that performs computation.\n',
    );
    await writeFile(
      join(prepared, 'topics.md'),
      '# Topics\n\nA topic is a named bus over which nodes exchange messages.\n',
    );
    const ingest = ['ingest', '.', '--base-url', 'https://docs.test/', '--collection', 'small'];
    expect(await runInProcess(ingest, { home: prepared })).toMatchObject({ code: 0 });
  });
  return { home };
}

/** Serves the offline model until the running test ends, and returns the flags that select it. */
export async function serveOfflineModel(): Promise<{
  url: string;
  flags: string[];
  stop: () => Promise<void>;
}> {
  const { url, close } = await startOfflineModelServer();
  let closing: Promise<void> | undefined;
  const stop = () => {
    closing ??= close();
    return closing;
  };
  onTestFinished(stop);
  return { url, flags: ['--base-url', url, '--model', SERVED_MODEL], stop };
}
