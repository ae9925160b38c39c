import { type Terminal, wrapWidth } from '../terminal.ts';
import { createVisibleStream } from './visible-stream.ts';
import { createWrappingWriter } from './wrapping-writer.ts';

/** An answer on its way to the terminal: made safe and wrapped, without blank lines around it. */
export interface AnswerStream {
  push(delta: string): void;
  /** Ends the last line; says whether anything was written. May be called again. */
  end(): boolean;
}

export function createAnswerStream(terminal: Terminal, beforeWrite: () => void): AnswerStream {
  const visible = createVisibleStream();
  const writer = createWrappingWriter((text) => terminal.write(text), wrapWidth(terminal));
  let written = false;
  let gap = '';

  function write(text: string): void {
    const whole = written ? gap + text : text.trimStart();
    const shown = whole.trimEnd();
    gap = whole.slice(shown.length);
    if (shown === '') return;
    beforeWrite();
    written = true;
    writer.write(shown);
  }

  return {
    push: (delta) => write(visible.push(delta)),
    end() {
      write(visible.end());
      writer.end();
      return written;
    },
  };
}
