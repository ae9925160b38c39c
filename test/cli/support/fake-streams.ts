import { PassThrough } from 'node:stream';
import type { ProcessStreams } from '../../../src/cli/terminal/terminal.ts';

interface FakeStreams {
  streams: ProcessStreams;
  /** The output to stdout so far. */
  out(): string;
  err(): string;
  type(text: string): void;
  endInput(): void;
}

/** Streams of a pipe, a terminal or a dumb terminal. */
export function fakeStreams(kind: 'pipe' | 'terminal' | 'dumb', columns = 80): FakeStreams {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const isTTY = kind !== 'pipe';
  Object.assign(stdin, { isTTY, setRawMode: () => stdin });
  for (const stream of [stdout, stderr]) {
    const size = isTTY ? { columns, rows: 40 } : {};
    Object.assign(stream, { isTTY, ...size, getColorDepth: () => (kind === 'terminal' ? 8 : 1) });
  }
  const collected = (stream: PassThrough) => {
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    return () => text;
  };
  return {
    // Node creates TTY streams only on a real terminal; these have the members that readline and citeloop use.
    streams: { stdin, stdout, stderr } as unknown as ProcessStreams,
    out: collected(stdout),
    err: collected(stderr),
    type: (text) => void stdin.write(text),
    endInput: () => void stdin.end(),
  };
}

/** A text without colours, links and cursor movements. */
export function plain(text: string): string {
  return text.replace(/\x1b\]8;;[^\x1b]*\x1b\\|\x1b\[[0-9;?]*[A-Za-z]/g, '');
}
