import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createDocumentParser } from '../../../src/adapters/documents/parse-document.ts';
import { createFileSource, type FileSourceOptions } from '../../../src/adapters/files/file-source.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

/** The texts of the documents below `root`, by path. */
async function ingest(files: Record<string, string>, options: Partial<FileSourceOptions> = {}, links = {}) {
  const directory = await createTemporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  for (const [name, target] of Object.entries<string>(links)) {
    await symlink(join(directory, target), join(directory, name));
  }
  const source = await createFileSource('root', { cwd: directory, ...options });
  const parse = createDocumentParser();
  const texts: Record<string, string> = {};
  for await (const entry of source.entries()) {
    texts[entry.relativePath] = (await parse(await entry.read())).text;
  }
  return texts;
}

test('includes files by paths relative to the document or to a directory above it', async () => {
  const texts = await ingest({
    'root/docs/en/docs/guide/a.md':
      'Before\n{* ../../src/app.py ln[1,3:4] hl[2] *}\n\n!!! note\n\n    --8<-- "part.md"\n',
    'root/docs/en/docs/b.md': '```py title="app.py"\n  --8<-- "src/app.py:main"\n```\n\n{* ./part.md *}',
    'root/src/app.py': 'one\ntwo\n# --8<-- [start:main]\nthree\n# --8<-- [end:main]\n',
    'root/docs/en/part.md': '**Part**\n\n{* ../../src/app.py *}\n',
  });
  expect(texts['docs/en/docs/guide/a.md']).toBe('Before\n\n```py\none\nthree\n```\n\nNote\n\nPart');
  expect(texts['docs/en/docs/b.md']).toBe('app.py\n\n```py\n  three\n```\n\nPart');
});

test('drops includes outside of the root, behind links, hidden, ignored, excluded, binary or too large', async () => {
  const names = [
    '../secret.txt',
    'link.txt',
    '.env',
    'ignored.txt',
    'private/a.txt',
    'binary.txt',
    'big.txt',
  ];
  const directives = [...names, '/etc/hosts', 'https://x.y/z.txt', 'missing.txt', '.', 'a.md'];
  const texts = await ingest(
    {
      'root/a.md': `Start\n\n${directives.map((name) => `--8<-- "${name}"`).join('\n\n')}\n\n\`\`\`\n--8<-- ".env"\nend\n\`\`\``,
      'root/.env': 'secret',
      'root/.gitignore': 'ignored.txt',
      'root/ignored.txt': 'secret',
      'root/private/a.txt': 'secret',
      'root/binary.txt': 'secret\0',
      'root/big.txt': 'secret '.repeat(200_000),
      'secret.txt': 'secret',
    },
    { include: ['*.md'], exclude: ['private/'] },
    { 'root/link.txt': 'secret.txt' },
  );
  // A document may include itself, once.
  expect(texts['a.md']).toBe('Start\n\nStart\n\n```\n\nend\n```\n\n```\nend\n```');
});

test('an include that is repeated does not fill the memory', async () => {
  const texts = await ingest({
    'root/a.md': '{* b.py *}\n'.repeat(1_000),
    'root/b.py': 'x = 1\n'.repeat(150_000),
  });
  expect(texts['a.md']?.length).toBeLessThan(6_000_000);
});

test('a file that is ingested alone includes nothing', async () => {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'a.md'), 'Start\n\n--8<-- "b.md"\n');
  await writeFile(join(directory, 'b.md'), 'b');
  const source = await createFileSource('a.md', { cwd: directory });
  const [entry] = await Array.fromAsync(source.entries());
  expect(await entry?.read()).not.toHaveProperty('included');
});

test('includes files in the forms of MkDocs, Jinja and MyST', async () => {
  const tag = '{% include "missing.html" %}';
  const texts = await ingest({
    'root/docs/a.md': [
      '{% include-markdown "parts/b.md" %}',
      '{%\n   include-markdown "parts/b.md"\n   heading-offset=1\n%}',
      tag,
      `\`\`\`html\n${tag}\n\`\`\``,
      '```{include} parts/b.md\n:relative-docs: x\n```',
      'End',
    ].join('\n\n'),
    'root/parts/b.md': 'One\n\nTwo',
  });
  expect(texts['docs/a.md']).toBe(
    `One\n\nTwo\n\nOne\n\nTwo\n\n\`\`\`html\n${tag}\n\`\`\`\n\nOne\n\nTwo\n\nEnd`,
  );
});

test('includes files in reStructuredText', async () => {
  const texts = await ingest({
    'root/docs/a.rst': [
      'One\n===\n\n.. include:: ../parts/b.txt',
      '.. include:: missing.rst',
      '.. include:: ../../secret.txt',
      '.. literalinclude:: /parts/app.py\n   :lines: 1,3-\n   :caption: app.py',
      '.. note::\n\n   .. include:: ../parts/b.txt\n      :lines: 4',
    ].join('\n\n'),
    'root/parts/b.txt':
      'Two\n---\n\nThe first |x| of b_.\n\n.. include:: b.txt\n\n.. |x| replace:: word\n.. _b: https://x.y',
    'root/parts/app.py': 'one\ntwo\n\tthree\n',
    'secret.txt': 'secret',
  });
  expect(texts['docs/a.rst']).toBe(
    'One\n\nTwo\n\nThe first word of [b](https://x.y).\n\napp.py\n\n```py\none\n\tthree\n```\n\nNote: The first word of [b](https://x.y).',
  );
});
