import { type ChildProcess, execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { nameCollection } from '../../../src/cli/commands/ingest.ts';
import { makeHostileDocuments } from '../../support/hostile-documents.ts';
import { listenForTest } from '../../support/listen-for-test.ts';
import { type CliOptions, runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { MANY, manyDocuments, oneStored } from '../support/many-documents.ts';

/** A home directory with documents in `docs/`. */
async function machine(files: Record<string, string | Uint8Array> = {}) {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs'));
  for (const [name, content] of Object.entries(files)) await writeFile(join(home, 'docs', name), content);
  const run = (args: string[], env: Record<string, string> = {}) => runInProcess(args, { home, env });
  return {
    home,
    run,
    ingest: (args: string[] = ['docs'], env: Record<string, string> = {}) =>
      run(['ingest', '-c', 'web_documents', ...args], env),
    /** Runs the program in a child process. */
    start: (options: Partial<CliOptions> = {}) =>
      runCli(['ingest', 'docs', '-c', 'web_documents'], { home, ...options }),
    async summary(...args: string[]) {
      return JSON.parse((await run(['ingest', 'docs', '-c', 'web_documents', '--json', ...args])).stdout);
    },
    collection: join(home, 'collections', 'web_documents.sqlite'),
  };
}

test('names a collection after the directory that is ingested', async () => {
  const home = await createTemporaryDirectory();
  for (const path of ['fastapi/docs/en', 'fastapi/notes']) await mkdir(join(home, path), { recursive: true });
  await writeFile(join(home, 'fastapi/docs/en/a.md'), 'Alpha.');
  const named = (...sources: string[]) => nameCollection(sources, home);
  expect(named('fastapi')).toBe('fastapi');
  expect(named('fastapi/docs')).toBe('fastapi_docs');
  expect(named('fastapi/docs/en/a.md')).toBe('fastapi_docs_en');
  expect(named('fastapi/docs/**/*.md')).toBe('fastapi_docs');
  expect(named('fastapi/notes', 'fastapi/docs')).toBe('fastapi');
  expect(named('https://docs.python.org/3/')).toBe('docs.python.org');
});

test('ingest reports what was added, and search finds it', async () => {
  const { start, run } = await machine({
    'zebra.md': '# Zebras\n\nA zebra is a striped horse.',
    'b.txt': 'Other things.',
  });
  const { code, stdout } = await start();
  expect(code).toBe(0);
  expect(stdout).toMatch(/^web_documents: 2 added; 2 chunks written, 2 embedded \([\d.]+ s\)\n$/);
  const found = await run(['search', 'striped horse']);
  expect(found.stdout).toContain('[1] Zebras');
  expect(found.stderr).toBe('');
});

test('--json prints one summary; a second run has nothing to do', async () => {
  const { summary } = await machine({ 'a.md': 'Alpha.' });
  expect(await summary()).toMatchObject({
    collection: 'web_documents',
    added: 1,
    failed: [],
    embeddedChunks: 1,
  });
  expect(await summary()).toMatchObject({ added: 0, unchanged: 1, embeddedChunks: 0 });
});

test('every format is read', async () => {
  const { summary, run } = await machine({
    'a.md': '# Aardvark\n\nText.',
    'b.mdx': 'import X from "y"\n\n# Badger\n\n<X>Text</X>',
    'c.rst': 'Camel\n=====\n\nText.',
    'd.html': '<title>Dingo</title><script>alert(1)</script><p>Text.</p>',
    'e.txt': 'Elephant text.',
    'f.pdf': minimalPdf('Flamingo text'),
  });
  expect(await summary()).toMatchObject({ added: 6, failed: [] });
  for (const animal of ['Aardvark', 'Badger', 'Camel', 'Dingo', 'Elephant', 'Flamingo']) {
    const { stdout } = await run(['search', animal, '--mode', 'lexical', '-k', '1']);
    expect(stdout).toContain(animal);
    expect(stdout).not.toContain('alert');
  }
});

test('unreadable files are reported, the others are indexed, and the exit code is 2', async () => {
  const { ingest, home } = await machine({
    'good.md': 'Good.',
    'binary.md': new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 1]),
    'latin.md': Buffer.from('caf\xe9', 'latin1'),
    'broken.pdf': 'not a pdf at all',
  });
  await writeFile(join(home, 'docs', 'huge.txt'), Buffer.alloc(51 * 1024 * 1024, 'a '));
  const { code, stdout } = await ingest();
  expect(code).toBe(2);
  expect(stdout).toMatch(/failed: .*binary\.md .*binary/);
  expect(stdout).toMatch(/failed: .*broken\.pdf /);
  expect(stdout).toMatch(/failed: .*huge\.txt .*MB/);
  expect(stdout).toContain('2 added, 3 failed');
});

test('minified code is skipped, and the exit code is 0', async () => {
  const { ingest } = await machine({ 'a.md': '# A\n\nText.', 'pack.js': 'a();'.repeat(4_000) });
  const { code, stdout } = await ingest();
  expect(code).toBe(0);
  expect(stdout).toContain('pack.js');
});

test('bad arguments fail with one line and exit code 2', async () => {
  const { ingest, home } = await machine({ 'a.md': 'A.' });
  await writeFile(join(home, 'picture.png'), 'x');
  await mkdir(join(home, 'empty'));
  for (const [args, message] of [
    [[], 'Nothing to ingest'],
    [['docs', '-'], 'standard input'],
    [['no-such-path'], 'no-such-path'],
    [['picture.png'], 'picture.png'],
    [['empty'], 'empty'],
    [['nothing/**/*.md'], 'nothing/**/*.md'],
    [['docs', '--base-url', 'ftp://x'], '--base-url'],
    [['docs', '--max-pages', '0'], '--max-pages'],
    [['http://127.0.0.1:9/'], '--allow-private'],
    [['http://localhost/'], '--allow-private'],
    [['http://169.254.169.254/latest/meta-data'], '--allow-private'],
    [['http://user:secret@example.com/'], 'example.com'],
  ] as const) {
    const { code, stderr, stdout } = await ingest([...args]);
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('secret');
    expect(stderr).not.toMatch(/\bat .*\.js:/);
  }
});

test('a misspelt path fails before anything is embedded', async () => {
  const { ingest, collection } = await machine({ 'a.md': 'A.' });
  expect((await ingest(['docs', 'dosc'])).code).toBe(2);
  expect(await stat(collection).catch(() => null)).toBeNull();
});

test('crawls a site and obeys its robots.txt', async () => {
  const pages: Record<string, string> = {
    '/robots.txt': 'User-agent: *\nDisallow: /private/',
    '/': '<title>Home</title><main><p>Welcome home.</p><a href="/a.html">a</a> <a href="/private/b.html">b</a></main>',
    '/a.html': '<title>Page A</title><main><p>Apples grow here.</p></main>',
    '/private/b.html': '<title>Secret</title><main><p>Hidden.</p></main>',
  };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const page = pages[request.url ?? ''];
    const type = request.url === '/robots.txt' ? 'text/plain' : 'text/html';
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': type }).end(page);
  });
  const { run } = await machine();
  const url = `${(await listenForTest(server)).origin}/`;
  const { code, stdout } = await run(['ingest', '-c', 'web_documents', url, '--allow-private', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ added: 2, failed: [] });
  expect(asked).not.toContain('/private/b.html');
  expect((await run(['search', 'apples', '--json'])).stdout).toContain(`${url}a.html`);
});

test('documents that exceed the limits of parsing are skipped, the others are stored', async () => {
  const documents = makeHostileDocuments();
  const files = Object.fromEntries(documents.map(({ file, bytes }) => [file, bytes]));
  const { home, run } = await machine({ 'a.md': '# Aardvark', ...files, 'z.md': '# Zebra' });
  const limits = ['--max-parse-seconds', '4', '--max-parse-memory-mb', '400', '--max-parse-output-mb', '20'];
  const { code, stdout } = await runCli(['ingest', 'docs', '-c', 'web_documents', '--json', ...limits], {
    home,
  });
  expect(code).toBe(2);
  const { added, failed } = JSON.parse(stdout);
  expect(added + failed.length).toBe(documents.length + 2);
  expect(added).toBeGreaterThanOrEqual(2);
  expect(failed.length).toBeGreaterThan(documents.length / 2);
  for (const { uri, hint } of failed)
    expect(uri.endsWith('.xlsx') || hint.includes('--max-parse-')).toBe(true);
  for (const animal of ['Aardvark', 'Zebra']) {
    expect((await run(['search', animal, '--mode', 'lexical'])).stdout).toContain(animal);
  }
});

test.each([
  ['SIGINT', 130],
  ['SIGKILL', null],
] as const)('%s ends the program and the parser in the middle of a document', async (signal, code) => {
  const { start } = await machine({ 'a.md': '*a_ '.repeat(50_000) });
  let parsers: number[] = [];
  const ended = await start({
    onStart: (child) =>
      void expect
        .poll(() => {
          parsers = parsersOf(child.pid);
          return parsers.length;
        })
        .toBe(1)
        .then(() => child.kill(signal)),
  });
  expect(ended.code).toBe(code);
  await expect.poll(() => parsers.filter(isRunning)).toEqual([]);
});

/** The ids of the parser processes that a process has started. */
function parsersOf(parent: number | undefined): number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return Array.from(listed.matchAll(/^ *(\d+) +(\d+) .*parse-worker/gm), ([, pid, ppid]) =>
    [pid, ppid].map(Number),
  )
    .filter(([, ppid]) => ppid === parent)
    .map(([pid]) => Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('Ctrl-C exits with 130 and keeps committed documents, and the same command continues', async () => {
  const { start, run, summary, collection } = await machine(manyDocuments());
  const stopped = await start({
    onStart: (child) => void oneStored(collection, child).then(() => child.kill('SIGINT')),
  });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toContain('Run the same command to continue');
  const { stdout: listed } = await run(['collections', '--json']);
  const [{ withoutVector }] = JSON.parse(listed).collections;
  expect(withoutVector).toBeGreaterThan(0);
  const found = await run(['search', 'thing 5']);
  expect(found.stdout).toContain('have no vector yet and can only be found by words');
  const doctor = await run(['doctor']);
  expect(doctor).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${withoutVector} chunks are not embedded`),
  });
  const resumed = await summary();
  expect(resumed.unchanged).toBeGreaterThan(0);
  expect(resumed.unchanged + resumed.added).toBe(MANY);
});

test('a kill leaves an intact collection, and two concurrent ingests lose nothing', async () => {
  const { start, run, summary, collection } = await machine(manyDocuments());
  for (const moment of [
    (_: ChildProcess) => delay(500),
    (child: ChildProcess) => oneStored(collection, child),
    (_: ChildProcess) => delay(1500),
  ]) {
    await start({ onStart: (child) => void moment(child).then(() => child.kill('SIGKILL')) });
    const { stdout } = await run(['doctor', '--json']);
    expect(JSON.parse(stdout).checks.filter((check: { ok: boolean }) => !check.ok)).toEqual([]);
  }
  const both = await Promise.all([start(), start()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await summary()).toMatchObject({ unchanged: MANY, added: 0, failed: [] });
  const { stdout } = await run(['collections', 'show', 'web_documents', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ documents: MANY });
});

test('rejects a corrupt collection with exit code 4 and a newer one with 3, without changing them', async () => {
  const { ingest, run, collection } = await machine({ 'a.md': 'Alpha.' });
  await ingest();
  const database = new DatabaseSync(collection);
  database.exec('PRAGMA user_version = 99');
  database.close();
  const newer = await run(['search', 'alpha']);
  expect(newer).toMatchObject({ code: 3, stderr: expect.stringContaining('newer version') });
  expect((await ingest()).code).toBe(3);

  await writeFile(collection, 'garbage '.repeat(4096));
  const corrupt = await run(['search', 'alpha']);
  expect(corrupt).toMatchObject({ code: 4, stderr: expect.stringContaining('damaged') });
  expect((await ingest()).code).toBe(4);
  expect((await stat(collection)).size).toBe('garbage '.length * 4096);
  const doctor = await run(['doctor']);
  expect(doctor.code).toBe(3);
  expect(doctor.stdout).toMatch(/✗ collection web_documents: .*damaged/);
});

test('reports an unwritable data directory with exit code 3', async () => {
  const { home, ingest } = await machine({ 'a.md': 'Alpha.' });
  await writeFile(join(home, 'file'), '');
  const { code, stderr } = await ingest(['docs'], { CITELOOP_HOME: join(home, 'file', 'below') });
  expect(code).toBe(3);
  expect(stderr).toContain('cannot be written to');
  expect(stderr).toContain('CITELOOP_HOME');
});

test('files that this user may not read are reported', async (context) => {
  if (process.getuid?.() === 0) context.skip('root may read everything, so there is nothing to refuse');
  const { ingest, home } = await machine({ 'a.md': 'Alpha.' });
  await chmod(join(home, 'docs', 'a.md'), 0);
  expect(await ingest()).toMatchObject({ code: 2, stdout: expect.stringContaining('a.md') });
});

test('leaves nothing but the collection in the data directory', async () => {
  const { ingest, home } = await machine({ 'a.md': 'Alpha.' });
  await ingest();
  expect(
    (await readdir(join(home, 'collections'))).filter((name) => !name.startsWith('web_documents.sqlite')),
  ).toEqual([]);
});

function minimalPdf(text: string): string {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${text.length + 33} >>\nstream\nBT /F1 12 Tf 20 100 Td (${text}) Tj ET\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  return `%PDF-1.4\n${body}trailer\n<< /Root 1 0 R /Size 6 >>\n%%EOF`;
}
