import { readFile } from 'node:fs/promises';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';

export const MAX_HISTORY_LINES = 1000;

/** The questions of past chats, for the arrow keys, oldest first. Errors of the file are ignored. */
export function createChatHistory(path: string) {
  async function load(): Promise<string[]> {
    const text = await readFile(path, 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .slice(-MAX_HISTORY_LINES);
  }

  async function append(line: string): Promise<void> {
    const lines = await load();
    if (lines.at(-1) === line) return;
    const text = [...lines, line].slice(-MAX_HISTORY_LINES).join('\n');
    await writeFileAtomic(path, `${text}\n`, { mode: 0o600 }).catch(() => {});
  }

  let writing = Promise.resolve();
  return {
    load,
    /** Appends a message as one line. Other chats may write the file at the same time. */
    async add(message: string): Promise<void> {
      const line = message.replace(/\s+/g, ' ').trim();
      if (line === '') return;
      writing = writing.then(() => append(line));
      await writing;
    },
  };
}
