import { readFile } from 'node:fs/promises';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';

export const MAX_HISTORY_LINES = 1000;

/** The questions of past chats, for the arrow keys. A file that cannot be read or written is no fault. */
interface ChatHistory {
  /** Oldest first. */
  load(): Promise<string[]>;
  /** Adds a message as one line and keeps the newest; other chats may do the same meanwhile. */
  add(message: string): Promise<void>;
}

export function createChatHistory(path: string): ChatHistory {
  async function load(): Promise<string[]> {
    const text = await readFile(path, 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .slice(-MAX_HISTORY_LINES);
  }

  async function save(lines: readonly string[]): Promise<void> {
    await writeFileAtomic(path, `${lines.join('\n')}\n`, { mode: 0o600 });
  }

  async function append(line: string): Promise<void> {
    const lines = await load();
    if (lines.at(-1) !== line) await save([...lines, line].slice(-MAX_HISTORY_LINES)).catch(() => {});
  }

  let writing = Promise.resolve();
  return {
    load,
    async add(message) {
      const line = message.replace(/\s+/g, ' ').trim();
      if (line === '') return;
      writing = writing.then(() => append(line));
      await writing;
    },
  };
}
