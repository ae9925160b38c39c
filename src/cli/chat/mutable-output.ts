import { Writable } from 'node:stream';

/** A way to a terminal that can be cut while something else is written there. */
export interface MutableOutput {
  /** Has the size of the terminal, as readline wants it. */
  stream: Writable & { readonly columns: number };
  muted: boolean;
  close(): void;
}

export function createMutableOutput(terminal: NodeJS.WriteStream): MutableOutput {
  const writable = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      if (!output.muted) terminal.write(chunk);
      done();
    },
  });
  const stream = Object.defineProperties(writable, {
    columns: { get: () => terminal.columns },
    rows: { get: () => terminal.rows },
    isTTY: { get: () => terminal.isTTY },
  }) as MutableOutput['stream'];
  const resized = () => void stream.emit('resize');
  terminal.on('resize', resized);
  const output: MutableOutput = {
    stream,
    muted: false,
    close: () => void terminal.off('resize', resized),
  };
  return output;
}
