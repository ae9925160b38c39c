import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const IMPORT = /(?:from|import\()\s*'([^']+)'/g;
const files = globSync('src/**/*.{ts,tsx}').map((file) => normalize(file));

function importsOf(file: string): string[] {
  return Array.from(readFileSync(file, 'utf8').matchAll(IMPORT), ([, target = '']) =>
    target.startsWith('.') ? normalize(join(dirname(file), target)) : target,
  );
}

/** What each folder may import besides itself; a prefix of a path or the name of a package. */
const ALLOWED: Record<string, string[]> = {
  // Hashing is as pure as the rest of it.
  'src/domain/': ['zod', 'node:crypto'],
  'src/ports/': ['src/domain/'],
  'src/lexical/': ['src/domain/', 'stemmer'],
  'src/config/': ['src/domain/', 'zod', 'node:'],
  'src/ingest/': ['src/domain/', 'src/ports/', 'src/lexical/', 'node:crypto'],
  'src/retrieval/': ['src/domain/', 'src/ports/', 'src/lexical/'],
  'src/tape/': ['src/domain/', 'src/ports/', 'msw', 'zod', 'node:'],
  'src/agent/': [
    'src/domain/',
    'src/ports/',
    'src/lexical/',
    'src/retrieval/',
    '@openai/agents-core',
    'zod',
    'node:timers',
  ],
  'src/serve/': [
    'src/domain/',
    'src/ports/',
    'src/agent/',
    '@openai/agents-core',
    '@hono/node-server',
    'hono',
    'zod',
    'node:',
  ],
  // It judges by the very rules that the agent checks its answers with, and sees no more of it than any caller.
  'src/evaluation/': [
    'src/domain/',
    'src/ports/',
    'src/lexical/',
    'src/agent/agent.ts',
    'src/agent/citations/',
    'zod',
    'yaml',
    'node:crypto',
  ],
  // It runs in a browser and knows the server by what it answers.
  'src/page/': ['src/domain/', 'src/ports/', 'preact', 'hast', 'mdast-util-', 'remark-', 'uni'],
  'src/mcp/': [
    'src/domain/',
    'src/ports/',
    'src/retrieval/',
    'src/agent/agent.ts',
    // The checks that every server of ours makes before it answers.
    'src/serve/http/',
    '@modelcontextprotocol/sdk',
    'zod',
    'node:',
  ],
};

test('dependencies point one way', () => {
  const wrong = files.flatMap((file) => {
    const folder = Object.keys(ALLOWED).find((prefix) => file.startsWith(prefix));
    if (folder === undefined) return [];
    const allowed = [folder, ...(ALLOWED[folder] ?? [])];
    return importsOf(file)
      .filter((target) => !allowed.some((prefix) => target.startsWith(prefix)))
      .map((target) => `${file} imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

test('adapters know domain, ports and each other, but no feature and no command', () => {
  const wrong = files
    .filter((file) => file.startsWith('src/adapters/'))
    .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
    .filter(({ target }) => /^src\/(?!(?:domain|ports|lexical|adapters)\/)/.test(target));
  expect(wrong).toEqual([]);
});

test('each vendor has one home', () => {
  const homes: Record<string, RegExp> = {
    'onnxruntime-node': /^src\/adapters\/onnx\//,
    'node:sqlite': /^src\/adapters\/sqlite\//,
    unpdf: /^src\/adapters\/documents\/pdf/,
    undici: /^src\/adapters\/web\//,
    openai: /^src\/adapters\/openai\//,
    'cohere-ai': /^src\/adapters\/cohere\//,
    '@qdrant/js-client-rest': /^src\/adapters\/qdrant\//,
    hono: /^src\/serve\//,
    '@hono/node-server': /^src\/serve\//,
    msw: /^src\/tape\//,
    '@modelcontextprotocol/sdk': /^src\/mcp\//,
    yargs: /^src\/(cli\/|main\.ts)/,
  };
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .map((target) => ({
        file,
        vendor: Object.keys(homes).find((name) => target === name || target.startsWith(`${name}/`)),
      }))
      .filter(({ vendor }) => vendor !== undefined && !homes[vendor]?.test(file)),
  );
  expect(wrong).toEqual([]);
});

test('only config reads the environment', () => {
  const readers = files.filter((file) => readFileSync(file, 'utf8').includes('process.env'));
  expect(readers.filter((file) => !file.startsWith('src/config/'))).toEqual([]);
});
