import { createInterface } from 'node:readline';
import { createLineJoiner } from './join-lines.ts';
import { readTypedQuestions } from './read-typed-questions.ts';
import type { Streams } from './streams.ts';

export interface QuestionSource {
  streams: Streams;
  signal: AbortSignal;
  /** Past messages for the arrow keys, oldest first. */
  history: readonly string[];
  complete(line: string): [string[], string];
  /** Hears of every message that a person typed. */
  onMessage(message: string): void;
  /** Ctrl-C while the last message is being answered, that is, before the next one is asked for. */
  onInterrupt(): void;
}

/** Messages as they are asked for, until the input ends: typed at a prompt, or one a line from a pipe. */
export function readQuestions(source: QuestionSource): AsyncGenerator<string, void, undefined> {
  return source.streams.stdin.isTTY === true
    ? readTypedQuestions(source)
    : readPipedQuestions(source.streams.stdin, source.signal);
}

async function* readPipedQuestions(
  stdin: NodeJS.ReadStream,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const joiner = createLineJoiner();
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
    const message = joiner.push(line);
    if (message !== null && message.trim() !== '') yield message;
  }
  const rest = joiner.take();
  if (rest !== null && rest !== '') yield rest;
}
