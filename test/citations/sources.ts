import { createSourceRegister, type SourceRegister } from '../../src/citations/source-register.ts';
import type { RetrievedChunk } from '../../src/domain/retrieved-chunk.ts';
import { chunk } from '../domain/arbitraries.ts';
import { threadCpuTimeMs } from '../support/cpu-time.ts';

export const TOPICS = chunk({
  chunkId: 'topics-0',
  text: 'A node publishes messages on a topic. A topic can have many subscribers.',
  url: 'https://docs.test/topics',
  title: 'Topics',
  headings: ['Topics', 'Publishing'],
});
export const SERVICES = chunk({
  chunkId: 'services-0',
  text: 'A service has one server. Clients wait for a response.',
  url: 'https://docs.test/services_(intro)',
  title: 'Services [intro]',
  headings: [],
});
export const SUBSCRIBING = chunk({
  chunkId: 'topics-1',
  text: 'Subscribers receive messages in callbacks.',
  url: 'https://docs.test/topics',
  title: 'Topics',
  headings: ['Topics', 'Subscribing'],
  chunkIndex: 1,
});

export function registerOf(...chunks: RetrievedChunk[]): SourceRegister {
  const register = createSourceRegister();
  for (const one of chunks) register.register(one);
  return register;
}

/** Topics is 1, Services is 2, and another chunk of Topics is 3. */
export function exampleRegister(): SourceRegister {
  return registerOf(TOPICS, SERVICES, SUBSCRIBING);
}

/** The run time in milliseconds. */
export function elapsed(run: () => void): number {
  const start = threadCpuTimeMs();
  run();
  return threadCpuTimeMs() - start;
}

/** Adversarial texts of 100 kB. */
export const HOSTILE: Record<string, string> = Object.fromEntries(
  [
    '[',
    ']',
    '(',
    '[]',
    '[[9]',
    '[Source: ',
    '[Source: a](',
    '(Source: ',
    '【',
    '【1†',
    '`',
    '``` `',
    '\\',
    'http://',
    'http://a(',
    'www.',
    '[1]',
    '[9] ',
    '[^',
    '"',
    '“a b c',
    '- ',
    '> ',
    ' ',
    '\n',
    '\n\n[1]: x',
    'Sources:\n',
    'e.g. ',
    '-/a',
    'é',
    'a_',
    'a::',
    '1,000',
    'A. ',
    '*_',
    '|',
    'Source: x\n',
    'not a ',
    '[a](b)',
    'https://docs.test/topics ',
    '[Source: Topics] ',
  ].map((unit) => [unit, unit.repeat(Math.ceil(100_000 / unit.length))]),
);
