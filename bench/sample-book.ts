import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { glob } from 'tinyglobby';

const BOOK = fileURLToPath(new URL('../fixtures/book', import.meta.url));

export async function chapters(): Promise<{ path: string; text: string }[]> {
  const paths = (await glob('**/*.md', { cwd: BOOK })).sort();
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(BOOK, path), 'utf8') })));
}

/**
 * Writes editions `first` to `last` of the sample book. The edition is part of every title, and so of all
 * that is embedded: no chunk of one is a chunk of another.
 */
export async function writeEditions(directory: string, first: number, last: number): Promise<void> {
  for (const { path, text } of await chapters()) {
    for (let edition = first; edition <= last; edition += 1) {
      const folder = join(directory, `edition-${edition}`, path, '..');
      await mkdir(folder, { recursive: true });
      const titled = text.replace(
        /^title: *(.*)$/m,
        (_, title: string) => `title: Edition ${edition}, ${title}`,
      );
      await writeFile(join(folder, basename(path)), titled);
    }
  }
}

/** Writes short files of a few paragraphs each, all different. */
export async function writeShortFiles(directory: string, count: number): Promise<void> {
  const paragraphs = (await chapters()).flatMap(({ text }) =>
    text.split(/\n{2,}/).filter((paragraph) => /^[A-Z][^|]{200,}$/.test(paragraph)),
  );
  await mkdir(directory, { recursive: true });
  for (let file = 0; file < count; file += 1) {
    const body = [0, 1].map((offset) => paragraphs[(file + offset) % paragraphs.length]).join('\n\n');
    await writeFile(join(directory, `note-${file}.md`), `# Note ${file}\n\n${body}\n`);
  }
}

/** The words of the book in their order: text drawn from them has a natural distribution. */
export async function bookWords(): Promise<string[]> {
  const all = (await chapters()).map(({ text }) => text.replace(/^---\n.*?\n---\n/s, '')).join('\n');
  return all.match(/[\p{L}][\p{L}\p{N}_.-]*[\p{L}\p{N}]/gu) ?? [];
}
