/** The three streams of the process, or stand-ins for them. */
export interface Streams {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

/** Whether lines can be redrawn there: not in a pipe, and not on a dumb terminal, which also has no colours. */
export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && stream.getColorDepth() > 1;
}
