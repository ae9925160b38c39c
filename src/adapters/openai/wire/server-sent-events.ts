/** One event, or a comment: a sign of life, with no data. */
export interface ServerSentEvent {
  event: string;
  /** Null for a comment. */
  data: string | null;
  /** False for the last one if the stream ends within it, or without the empty line that should follow. */
  ended: boolean;
}

export interface EventParser {
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): ServerSentEvent[];
  /** What is left when the stream has ended. */
  end(): ServerSentEvent[];
}

const NONE: readonly ServerSentEvent[] = [];
const FIELD = /^\s*(data|event|id|retry)\s*:\s?(.*)$/s;

/**
 * Parses server-sent events as they come. Tolerates what servers do: fields that are indented, bare lines of
 * JSON without `data:`, any line ending, and no empty line after the last event.
 */
export function createEventParser(): EventParser {
  const decoder = new TextDecoder();
  let rest = '';
  let event = '';
  let data: string[] = [];

  function dispatch(ended: boolean): readonly ServerSentEvent[] {
    const events = data.length > 0 ? [{ event, data: data.join('\n'), ended }] : NONE;
    event = '';
    data = [];
    return events;
  }

  function readLine(line: string): readonly ServerSentEvent[] {
    // As nearly every line is.
    if (line === '') return dispatch(true);
    if (line.startsWith('data: ')) {
      data.push(line.slice(6));
      return NONE;
    }
    if (line.trim() === '') return dispatch(true);
    if (line.startsWith(':')) return [{ event: '', data: null, ended: true }];
    const [, field, value = ''] = FIELD.exec(line) ?? [];
    if (field === 'event') event = value.trim();
    else if (field === 'data') data.push(value);
    else if (field === undefined) data.push(line);
    return NONE;
  }

  return {
    push(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      // A carriage return at the very end may be half of a line ending.
      const lines = rest.includes('\r') ? rest.split(/\r\n|\n|\r(?!$)/) : rest.split('\n');
      rest = lines.pop() ?? '';
      return lines.flatMap(readLine);
    },
    end() {
      rest += decoder.decode();
      const lines = rest === '' ? [] : rest.split('\r');
      return [...lines.flatMap(readLine), ...dispatch(false)];
    },
  };
}
