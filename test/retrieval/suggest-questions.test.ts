import { expect, test } from 'vitest';
import { questionFrom, suggestQuestions } from '../../src/retrieval/suggest-questions.ts';

test.each([
  ['A node is a process that performs a computation in a graph.', 'What is a node?'],
  ['ROS 2 is a set of libraries and tools for building robots.', 'What is ROS 2?'],
  ['**Isaac Sim** is an application for the simulation of robots.', 'What is Isaac Sim?'],
  ['Create a Task Function', 'How do I create a Task Function?'],
  ['How to install ROS 2', 'How do I install ROS 2?'],
  ["Use the client's own headers", "How do I use the client's own headers?"],
  ['The PyTorch ecosystem is a popular choice for research.', 'What is the PyTorch ecosystem?'],
  ['How do robots localise themselves?', 'How do robots localise themselves?'],
])('%s answers a question', (text, question) => {
  expect(questionFrom(text)).toBe(question);
});

test.each([
  'It is a process that performs a computation in a graph.',
  'The following is a list of all of the nodes in a graph.',
  'This is the place where nodes are started by the system.',
  'The model below is a network that was trained on pictures.',
  'And each column is a field of the table that it is in.',
  'Nodes publish messages.',
  'req is an instance of the class that requests have.',
  'allowedNetworks is a list of the networks that are let in.',
  'Below is a list of the options that a provider takes.',
  'As this provider is an addition to the others, it is optional.',
  'Warning Graphs is an extension that is still experimental.',
  "import { Hono } from 'hono'",
  'GET /rest/debug/cpuprof',
  'Use Cases',
  'Check Constraint',
  'CREATE OR REPLACE',
  'Send & Receive Folder',
  'Return the Result of the Last Query Using',
  'A very long name of some thing is a name that nobody asks for.',
  '',
])('%s answers none', (text) => {
  expect(questionFrom(text)).toBeNull();
});

test('where few documents tell something, more of them are looked at, each once', async () => {
  const telling = new Set([3, 77, 130]);
  const read: string[] = [];
  const store = {
    async *documents() {
      for (let at = 0; at < 160; at += 1) yield { uri: `file:///${at}.md` };
    },
    async read(uris: readonly string[]) {
      read.push(...uris);
      return uris.map((uri) => {
        const at = Number(/\d+/.exec(uri)?.[0]);
        const text = telling.has(at) ? `Thing ${at} is a part of the machine.` : 'Nothing.';
        return { uri, chunks: [{ text, headings: [] }] };
      });
    },
  };
  // Only what is used of a store is played here.
  const questions = await suggestQuestions(store as unknown as Parameters<typeof suggestQuestions>[0]);
  expect(questions).toHaveLength(2);
  expect(new Set(read).size).toBe(64);
  expect(read).toHaveLength(64);
});
