import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type CliOptions, runCli } from './run-cli.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A small collection of its own, whose documents are published somewhere. */
export async function library(): Promise<CliOptions> {
  const home = await temporaryDirectory();
  await writeFile(join(home, 'nodes.md'), '# Nodes\n\nA node is a process that performs computation.\n');
  await writeFile(
    join(home, 'topics.md'),
    '# Topics\n\nA topic is a named bus over which nodes exchange messages.\n',
  );
  const ingested = await runCli(
    ['ingest', '.', '--base-url', 'https://docs.test/', '--collection', 'small'],
    { home },
  );
  expect(ingested.code).toBe(0);
  return { home };
}

/** The offline model behind a real server; gives the flags that lead there. */
export async function servedModel({
  home,
}: CliOptions): Promise<{ flags: string[]; stop: () => Promise<unknown> }> {
  const started = Promise.withResolvers<string>();
  let stop = () => {};
  const ended = runCli(['serve-model', '--port', '0'], {
    home,
    onStart(child) {
      stop = () => child.kill();
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (text) => {
          const [url] = String(text).match(/http:\S+\/v1/) ?? [];
          if (url !== undefined) started.resolve(url);
        });
      }
    },
  });
  onTestFinished(() => stop());
  const url = await Promise.race([
    started.promise,
    ended.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ]);
  return {
    flags: ['--base-url', url, '--model', 'offline-served'],
    stop: () => {
      stop();
      return ended;
    },
  };
}
