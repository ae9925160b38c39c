import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileSource } from '../../../src/adapters/files/file-source.ts';
import type { AppError } from '../../../src/faults/app-error.ts';
import type { DocumentSource, SourceEntry } from '../../../src/ports/document-source.ts';

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'citeloop-files-'));
});

afterEach(async () => {
  await rm(cwd, { recursive: true, force: true });
});

async function files(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), `content of ${path}`);
  }
}

async function entriesOf(source: DocumentSource, signal?: AbortSignal): Promise<SourceEntry[]> {
  const entries: SourceEntry[] = [];
  for await (const entry of source.entries(signal)) entries.push(entry);
  return entries;
}

async function pathsOf(argument: string): Promise<string[]> {
  return (await entriesOf(await createFileSource(argument, { cwd }))).map((entry) => entry.relativePath);
}

async function onlyEntry(argument: string, maxBytes?: number): Promise<SourceEntry> {
  const source = await createFileSource(argument, { cwd, ...(maxBytes !== undefined && { maxBytes }) });
  const [entry] = await entriesOf(source);
  if (entry === undefined) throw new Error('the source is empty');
  return entry;
}

test('a single file is its own root, and its relative path is its name', async () => {
  await files('docs/intro.md');
  const source = await createFileSource('docs/intro.md', { cwd });
  const [entry] = await entriesOf(source);
  const uri = pathToFileURL(join(cwd, 'docs/intro.md')).href;
  expect(source.total).toBe(1);
  expect(entry).toMatchObject({ uri, root: uri, relativePath: 'intro.md' });
  expect(await entry?.read()).toEqual({
    uri,
    mediaType: 'markdown',
    bytes: new TextEncoder().encode('content of docs/intro.md'),
  });
});

test('lists the supported files of a directory sorted by path', async () => {
  await files('docs/b.txt', 'docs/a/z.MD', 'docs/a/b.rst', 'docs/photo.png', 'docs/c.pdf', 'docs/B.html');
  expect(await pathsOf('docs')).toEqual(['B.html', 'a/b.rst', 'a/z.MD', 'b.txt', 'c.pdf']);
});

test('the root of a directory ends in a slash and does not cover siblings', async () => {
  await files('docs/a.md', 'docs-old/a.md');
  const entry = await onlyEntry('docs');
  expect(entry.root).toBe(`${pathToFileURL(join(cwd, 'docs')).href}/`);
  expect(new URL(entry.relativePath, entry.root).href).toBe(entry.uri);
});

test('encodes names with spaces, percent signs and non-ASCII letters as URLs', async () => {
  await files('docs/100% déjà vu #1.md');
  const entry = await onlyEntry('docs');
  expect(entry.relativePath).toBe('100% déjà vu #1.md');
  expect(fileURLToPath(entry.uri)).toBe(join(cwd, 'docs/100% déjà vu #1.md'));
});

test('skips hidden names and node_modules', async () => {
  await files('docs/a.md', 'docs/.b.md', 'docs/.git/c.md', 'docs/node_modules/d/readme.md');
  expect(await pathsOf('docs')).toEqual(['a.md']);
});

test('lists a hidden directory that is named', async () => {
  await files('.notes/a.md');
  expect(await pathsOf('.notes')).toEqual(['a.md']);
});

test('ends loops of links and lists no file twice', async () => {
  await files('docs/a/one.md', 'docs/b/two.md');
  await symlink(join(cwd, 'docs'), join(cwd, 'docs/a/up'));
  await symlink('../b', join(cwd, 'docs/a/also-b'));
  await symlink('one.md', join(cwd, 'docs/a/again.md'));
  await symlink('itself.md', join(cwd, 'docs/itself.md'));
  expect(await pathsOf('docs')).toEqual(['a/one.md', 'b/two.md', 'itself.md']);
});

test('follows a link to a file in a hidden directory of the same root', async () => {
  await files('docs/..data/a.md');
  await symlink('..data/a.md', join(cwd, 'docs/a.md'));
  expect(await pathsOf('docs')).toEqual(['a.md']);
});

test('skips a link to the outside with a notice', async () => {
  await files('docs/a.md', 'private/diary.md');
  await symlink('../private', join(cwd, 'docs/shared'));
  await symlink('../private/diary.md', join(cwd, 'docs/diary.md'));
  const notices: string[] = [];
  const source = await createFileSource('docs', { cwd, onNotice: (notice) => notices.push(notice) });
  expect((await entriesOf(source)).map((entry) => entry.relativePath)).toEqual(['a.md']);
  expect(notices).toEqual(['skipped 2 links to files outside docs; ingest the targets to include them']);
  const byGlob = await createFileSource('docs/*.md', { cwd });
  expect(byGlob.total).toBe(1);
});

test('lists a directory that is a link', async () => {
  await files('real/a.md');
  await symlink('real', join(cwd, 'docs'));
  const entry = await onlyEntry('docs');
  expect(entry.uri).toBe(pathToFileURL(join(cwd, 'docs/a.md')).href);
});

test('the root of a glob is its static part', async () => {
  await files('docs/guide/a.md', 'docs/guide/deep/b.md', 'docs/guide/c.txt', 'other/d.md');
  const source = await createFileSource('docs/guide/**/*.md', { cwd });
  const entries = await entriesOf(source);
  expect(entries.map((entry) => entry.relativePath)).toEqual(['a.md', 'deep/b.md']);
  expect(entries[0]?.root).toBe(`${pathToFileURL(join(cwd, 'docs/guide')).href}/`);
});

test.each([
  ['*.md', ['a.md']],
  ['{docs,other}/*.md', ['docs/b.md', 'other/c.md']],
  ['./docs/*', ['b.md']],
  ['**/*.md', ['a.md', 'docs/b.md', 'other/c.md']],
])('the glob %s matches %j without hidden files and node_modules', async (glob, expected) => {
  await files('a.md', 'docs/b.md', 'docs/.hidden.md', 'docs/photo.png', 'other/c.md', 'node_modules/x/d.md');
  expect(await pathsOf(glob)).toEqual(expected);
});

test('a glob may be absolute or start in the parent directory', async () => {
  await files('docs/a.md', 'work/b.md');
  expect(await pathsOf(`${cwd}/docs/*.md`)).toEqual(['a.md']);
  const source = await createFileSource('../docs/*.md', { cwd: join(cwd, 'work') });
  expect((await entriesOf(source))[0]?.relativePath).toBe('a.md');
});

test('a brace may span directories', async () => {
  await files('docs/a/one.md', 'docs/b/c/two.md', 'docs/d/three.md');
  expect(await pathsOf('docs/{a,b/c}/*.md')).toEqual(['a/one.md', 'b/c/two.md']);
  expect(await pathsOf(`${cwd}/docs/{a,b/c}/*.md`)).toEqual(['a/one.md', 'b/c/two.md']);
});

test('lists a glob inside node_modules that is named', async () => {
  await files('node_modules/tool/docs/a.md', 'node_modules/tool/node_modules/other/b.md');
  expect(await pathsOf('node_modules/tool/**/*.md')).toEqual(['docs/a.md']);
});

test('prefers a file whose name looks like a glob', async () => {
  await files('[draft].md', 'd.md');
  expect(await pathsOf('[draft].md')).toEqual(['[draft].md']);
});

test('accepts a file URL', async () => {
  await files('a b.md');
  expect(await pathsOf(pathToFileURL(join(cwd, 'a b.md')).href)).toEqual(['a b.md']);
});

test.each([
  ['dosc', 'Did you mean docs?'],
  ['docs/Intro.md', 'Did you mean docs/intro.md?'],
  ['docs/intro.txt', 'Did you mean docs/intro.md?'],
  ['dosc/intro.md', 'Did you mean docs?'],
  ['something/else.md', 'Check the path.'],
])('rejects the missing path %s with the hint %s', async (argument, hint) => {
  await files('docs/intro.md');
  await expect(createFileSource(argument, { cwd })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${argument} does not exist.`,
    hint,
  });
});

test.each(['', '  ', 'a\0b.md', 'file://elsewhere/a.md', 'x'.repeat(5000)])(
  'rejects the impossible path %j',
  async (argument) => {
    await expect(createFileSource(argument, { cwd })).rejects.toMatchObject({ kind: 'invalid_input' });
  },
);

test.each(['empty', 'empty/**/*.md', 'nowhere/**/*.md'])(
  'rejects %s without supported files and lists the extensions',
  async (argument) => {
    await files('empty/photo.png');
    await expect(createFileSource(argument, { cwd })).rejects.toMatchObject({
      kind: 'invalid_input',
      hint: expect.stringMatching(/\.md, .*\.pdf/),
    });
  },
);

test('supports each listed extension', async () => {
  await files('photo.png');
  const error = await createFileSource('photo.png', { cwd }).catch((reason: AppError) => reason);
  const extensions = 'hint' in error ? (error.hint?.match(/\.[a-z]\w*/g) ?? []) : [];
  expect(extensions).toHaveLength(50);
  await files(...extensions.map((extension) => `docs/a${extension}`));
  expect(await pathsOf('docs')).toHaveLength(50);
});

test('rejects a file of an unsupported format', async () => {
  await files('photo.png');
  await expect(createFileSource('photo.png', { cwd })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: 'photo.png has an unsupported format.',
  });
});

test('rejects a named pipe instead of waiting for a writer', async () => {
  execFileSync('mkfifo', [join(cwd, 'pipe.md')]);
  await expect(createFileSource('pipe.md', { cwd })).rejects.toMatchObject({
    message: 'pipe.md is neither a file nor a directory.',
  });
});

test('reads a file at the size limit and rejects a larger one', async () => {
  await writeFile(join(cwd, 'a.md'), '12345');
  expect((await (await onlyEntry('a.md', 5)).read()).bytes).toHaveLength(5);
  await expect((await onlyEntry('a.md', 4)).read()).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('is too large: 5 bytes, limit 4 bytes.'),
  });
});

test('reads an empty file', async () => {
  await writeFile(join(cwd, 'a.md'), '');
  expect((await (await onlyEntry('a.md')).read()).bytes).toHaveLength(0);
});

test('reports a file that was deleted after the listing', async () => {
  await files('docs/a.md');
  const entry = await onlyEntry('docs');
  await rm(join(cwd, 'docs/a.md'));
  await expect(entry.read()).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${join(cwd, 'docs/a.md')} no longer exists.`,
  });
});

test('reports a file that became a directory', async () => {
  await files('docs/a.md');
  const entry = await onlyEntry('docs');
  await rm(join(cwd, 'docs/a.md'));
  await mkdir(join(cwd, 'docs/a.md'));
  await expect(entry.read()).rejects.toMatchObject({ message: expect.stringContaining('is a directory') });
});

test('an aborted signal stops listing and reading', async () => {
  await files('docs/a.md');
  const source = await createFileSource('docs', { cwd });
  const [entry] = await entriesOf(source);
  await expect(entriesOf(source, AbortSignal.abort())).rejects.toThrow('aborted');
  await expect(entry?.read(AbortSignal.abort())).rejects.toThrow('aborted');
});

/** Whether a source covers a path below the working directory. */
async function covers(argument: string, path: string): Promise<boolean> {
  const source = await createFileSource(argument, { cwd });
  return source.covers({ uri: pathToFileURL(join(cwd, path)).href, root: '' });
}

test.each([
  ['docs', 'docs/gone.md', true],
  ['docs', 'docs/gone/deep/a.md', true],
  ['docs', 'docs/a.md', false],
  ['docs', 'docs-old/a.md', false],
  ['docs', 'docs/.hidden/a.md', false],
  ['docs', 'docs/node_modules/a.md', false],
  ['docs', 'docs/gone.png', false],
  ['docs', 'docs/link/gone.md', false],
  ['docs', 'docs/link/a.md', false],
  ['docs/a.md', 'docs/a.md', true],
  ['docs/a.md', 'docs/gone.md', false],
  ['docs/*.md', 'docs/gone.md', true],
  ['docs/*.md', 'docs/gone.txt', false],
  ['docs/*.md', 'docs/deep/gone.md', false],
  ['docs/**/*.{md,txt}', 'docs/deep/gone.txt', true],
  ['docs/**/*.md', 'docs/link/gone.md', false],
])('the source %s covers the missing or unlisted %s: %s', async (argument, path, expected) => {
  await files('docs/a.md', 'docs-old/b.md');
  await symlink('../docs-old', join(cwd, 'docs/link'));
  expect(await covers(argument, path)).toBe(expected);
});

test('a file source does not cover web pages', async () => {
  await files('docs/a.md');
  const source = await createFileSource('docs', { cwd });
  expect(source.covers({ uri: 'https://docs.test/a.md', root: 'https://docs.test/' })).toBe(false);
});
