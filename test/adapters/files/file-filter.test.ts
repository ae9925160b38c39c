import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createFileSource, type FileSourceOptions } from '../../../src/adapters/files/file-source.ts';
import { createDocumentSource } from '../../../src/app/index-documents.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

/** What is found of some files, and what is said about the rest. */
async function find(
  files: Record<string, string>,
  argument: string,
  options: Pick<FileSourceOptions, 'include' | 'exclude'> = {},
) {
  const cwd = await createTemporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), text);
  }
  const notices: string[] = [];
  const source = await createFileSource(argument, {
    cwd,
    ...options,
    onNotice: (notice) => notices.push(notice),
  });
  const paths: string[] = [];
  for await (const { relativePath } of source.entries()) paths.push(relativePath);
  return { paths, notices };
}

const repository = {
  '.git/HEAD': '',
  '.gitignore': 'build/\n*.log.md\n/docs/secret.md\n',
  'docs/.gitignore': '!kept.log.md\n',
  'docs/.citeloopignore': 'drafts\n',
  'docs/a.md': '',
  'docs/a.log.md': '',
  'docs/kept.log.md': '',
  'docs/secret.md': '',
  'docs/drafts/b.md': '',
  'docs/build/c.md': '',
  'build/d.md': '',
};

test('applies .gitignore and .citeloopignore, also of parent directories, and reports the counts', async () => {
  expect(await find(repository, 'docs')).toEqual({
    paths: ['a.md', 'kept.log.md'],
    notices: ['skipped 4 ignored by .gitignore or .citeloopignore'],
  });
});

test('lists an ignored directory that is named, but applies ignore files to a glob', async () => {
  expect((await find(repository, 'build')).paths).toEqual(['d.md']);
  expect((await find(repository, '**/*.md')).paths).toEqual(['docs/a.md', 'docs/kept.log.md']);
});

test('applies include and exclude patterns and counts unsupported files', async () => {
  const files = {
    'x/a.py': '',
    'x/a.md': '',
    'x/tests/b.py': '',
    'x/p.png': '',
    'x/q.PNG': '',
    'x/Makefile': '',
  };
  expect(await find(files, 'x')).toEqual({
    paths: ['a.md', 'a.py', 'tests/b.py'],
    notices: ['skipped 3 of other types: 2 .png, 1 without extension'],
  });
  expect(await find(files, 'x', { include: ['*.py', '*.png'], exclude: ['tests/'] })).toEqual({
    paths: ['a.py'],
    notices: ['skipped 2 of other types: 2 .png', 'skipped 3 excluded by the given patterns'],
  });
});

test('reports broken links, names that are not UTF-8 and unknown schemes', async () => {
  const cwd = await createTemporaryDirectory();
  await mkdir(join(cwd, 'docs'));
  await symlink('gone.md', join(cwd, 'docs/link.md'));
  const latin = Buffer.concat([
    Buffer.from(join(cwd, 'docs', 'caf')),
    Buffer.from([0xe9]),
    Buffer.from('.md'),
  ]);
  await writeFile(latin, 'text');
  const link = `${join(cwd, 'docs/link.md')} is a link to gone.md, which does not exist.`;
  const source = await createFileSource('docs', { cwd });
  const faults: string[] = [];
  for await (const entry of source.entries()) {
    await entry.read().catch((error: Error) => faults.push(error.message));
  }
  expect(faults.sort()).toEqual([
    `${join(cwd, 'docs/caf\ufffd.md')} cannot be opened, because its name is not UTF-8.`,
    link,
  ]);
  await expect(createFileSource('docs/link.md', { cwd })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: link,
  });
  await expect(createDocumentSource('ftp://x.y/z', { files: { cwd }, web: {} })).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('ftp://x.y/z'),
  });
});
