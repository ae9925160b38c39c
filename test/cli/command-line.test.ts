import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { copyHomeWithBook } from '../support/copy-home.ts';
import { endWithParent } from '../support/end-with-parent.ts';
import { runCli } from '../support/run-cli.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { manyDocuments, oneStored } from './support/many-documents.ts';

const root = join(import.meta.dirname, '../..');

test('help lists every command, and each command has help with examples', async () => {
  const home = await createTemporaryDirectory();
  const { code, stdout } = await runCli(['--help'], { home });
  expect(code).toBe(0);
  for (const command of ['ask', 'chat', 'ingest', 'search', 'sessions', 'collections', 'doctor']) {
    expect(stdout).toContain(`  ${command} `);
    const help = await runCli([command, '--help'], { home });
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('Examples:');
    expect(help.stdout).toContain('--collection');
    expect(help.stdout).toContain('--json');
  }
});

test('--version prints the version of the package', async () => {
  const { stdout } = await runCli(['--version'], { home: await createTemporaryDirectory() });
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  expect(stdout.trim()).toBe(version);
});

test('rejects an unknown command and an unknown flag with exit code 2', async () => {
  const home = await createTemporaryDirectory();
  for (const args of [['dance'], ['search', 'x', '--dance']]) {
    const { code, stderr } = await runInProcess(args, { home });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^citeloop: .+\n {2}.*See citeloop .*--help\.\n$/);
  }
});

test('reports the source of an invalid setting with exit code 3', async () => {
  const home = await createTemporaryDirectory();
  const fromEnvironment = await runInProcess(['collections'], { home, env: { AGENT_TOP_K: 'lots' } });
  expect(fromEnvironment).toMatchObject({ code: 3, stderr: expect.stringContaining('AGENT_TOP_K') });
  await writeFile(join(home, 'citeloop.config.json'), '{"topK": 99}');
  expect(await runInProcess(['collections'], { home })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('topK'),
  });
});

/** A preload script that makes Node report an old version. */
async function oldNode(): Promise<string> {
  const preload = join(await createTemporaryDirectory(), 'old-node.cjs');
  await writeFile(preload, "Object.defineProperty(process.versions, 'node', { value: '20.11.0' });");
  return preload;
}

test('an old Node starts the Node in node_modules', async () => {
  const args = ['--require', await oldNode(), join(root, 'bin/citeloop.js'), '--version'];
  const { stdout } = await endWithParent(promisify(execFile)(process.execPath, args));
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('the launcher forwards signals, and three at once stop an ingest once', async () => {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs'));
  for (const [name, text] of Object.entries(manyDocuments())) await writeFile(join(home, 'docs', name), text);
  const { code, stderr } = await runCli(['ingest', 'docs', '-c', 'web_documents'], {
    home,
    nodeFlags: ['--require', await oldNode()],
    onStart: async (child) => {
      await oneStored(join(home, 'collections', 'web_documents.sqlite'), child);
      for (let times = 0; times < 3; times += 1) child.kill('SIGTERM');
    },
  });
  expect({ code, stderr }).toEqual({
    code: 130,
    stderr: expect.stringContaining('Run the same command to continue'),
  });
  expect(existsSync(join(home, '.cache', 'Microsoft'))).toBe(false);
});

test('an old Node without a newer one in node_modules prints an error', async () => {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await mkdir(join(directory, 'bin'));
  await copyFile(join(root, 'bin/citeloop.js'), join(directory, 'bin/citeloop.js'));
  const args = ['--require', await oldNode(), join(directory, 'bin/citeloop.js'), '--version'];
  await expect(endWithParent(promisify(execFile)(process.execPath, args))).rejects.toMatchObject({
    code: 3,
    stderr: 'citeloop: Node 20.11.0 is too old. Install Node 22.18 or newer.\n',
  });
});

test('rejects a flag without a value, and accepts words with a dash after --', async () => {
  const home = await createTemporaryDirectory();
  await copyHomeWithBook(home);
  expect(await runInProcess(['search', 'x', '--module'], { home })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--module needs a value.'),
  });
  const { stdout } = await runInProcess(
    ['search', '--mode', 'lexical', '--json', '--', '--symlink-install'],
    {
      home,
    },
  );
  expect(JSON.parse(stdout).query).toBe('--symlink-install');
});
