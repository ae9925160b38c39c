import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { endWithParent } from '../../support/end-with-parent.ts';

export const PROCESS_IDENTITY = { embedder: 'test:process', dimensions: 32 };

export interface WriterTask {
  directory: string;
  /** The prefix of the document names. */
  name: string;
  documents: number;
  /** The time in milliseconds to start at, so that several start at once. */
  startAt: number;
  /** Replaces this many documents in turn instead of adding new ones. */
  rewrite?: number;
}

export interface Writer {
  child: ChildProcess;
  /** The numbers of acknowledged documents. */
  acknowledged: number[];
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; errors: string }>;
}

/** Starts a process that writes documents to the collection `book`. */
export function startWriter(task: WriterTask): Writer {
  const script = join(import.meta.dirname, 'writer-process.ts');
  const child = endWithParent(
    spawn(process.execPath, [script, JSON.stringify(task)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const acknowledged: number[] = [];
  let rest = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    acknowledged.push(...lines.map(Number));
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<Awaited<Writer['ended']>>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, errors }));
  });
  return { child, acknowledged, ended };
}
