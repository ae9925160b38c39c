import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const IMPORT = /(?:from\s+|import\(\s*)'([^']+)'/g;
const files = globSync('src/**/*.{ts,tsx}').map((file) => normalize(file));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  return Array.from(readFileSync(file, 'utf8').matchAll(IMPORT), ([, target = '']) =>
    target.startsWith('.') ? normalize(join(dirname(file), target)) : target,
  );
}

/** Path prefixes and packages that each folder of `src`, or file directly in it, may import besides itself. */
const ALLOWED_IMPORTS: Record<string, string[]> = {
  'src/package.ts': ['node:'],
  'src/async/': ['src/faults/', 'node:worker_threads', 'node:child_process'],
  'src/text/': ['stemmer'],
  'src/files/': ['src/faults/', 'node:'],
  'src/faults/': ['src/text/', 'zod', 'node:timers'],
  'src/domain/': ['src/text/', 'src/faults/', 'zod', 'node:crypto'],
  'src/ports/': ['src/domain/', 'src/faults/'],
  'src/config/': ['src/text/', 'src/files/', 'src/faults/', 'src/domain/', 'zod', 'node:'],
  'src/ingest/': ['src/text/', 'src/faults/', 'src/domain/', 'src/ports/', 'node:crypto', 'node:timers'],
  'src/retrieval/': ['src/text/', 'src/faults/', 'src/domain/', 'src/ports/', 'zod', 'node:fs'],
  'src/citations/': ['src/text/', 'src/domain/', 'src/ports/', 'src/retrieval/word-similarity.ts'],
  'src/agent/': [
    'src/async/',
    'src/text/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/retrieval/',
    'src/citations/',
    '@openai/agents',
    'zod',
    'node:timers',
    'node:crypto',
  ],
  'src/tape/': [
    'src/text/',
    'src/files/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/agent/agent.ts',
    'msw',
    'zod',
    'yaml',
    'node:',
  ],
  'src/evaluation/': [
    'src/text/',
    'src/files/',
    'src/faults/',
    'src/domain/',
    'src/ports/',

    'src/retrieval/deleted-files.ts',
    'src/citations/',
    'src/agent/agent.ts',
    'src/agent/wait-for-turn.ts',
    'src/agent/wait-for-turn.ts',
    'papaparse',
    'zod',
    'yaml',
    'node:',
  ],
  'src/server/': [
    'src/async/',
    'src/text/',
    'src/files/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/retrieval/',
    'src/citations/',
    'src/agent/agent.ts',
    'src/agent/wait-for-turn.ts',
    'src/agent/wait-for-turn.ts',
    'src/agent/citation-changes.ts',
    'src/agent/citation-changes.ts',
    '@modelcontextprotocol/server',
    '@hono/node-server',
    'hono',
    'zod',
    'node:',
  ],
  // Runs in a browser.
  'src/web/': [
    'src/text/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/citations/find-markers.ts',
    'src/citations/merge-markers.ts',
    'src/evaluation/report/',
    'preact',
    'lowlight',
    'highlight.js',
    'hast',
    'mdast-util-',
    'remark-',
    'uni',
  ],
  // Implement ports; each may use its own vendor packages.
  'src/adapters/': ['src/async/', 'src/text/', 'src/files/', 'src/faults/', 'src/domain/', 'src/ports/'],
  // The composition root: the only folder that connects features with adapters.
  'src/app/': ['src/', '@openai/agents', '@opentelemetry/', 'zod', 'node:'],
  'src/cli/': ['src/', 'yargs', 'zod', 'yaml', 'mdast', 'remark-', 'uni', 'node:'],
  'src/main.ts': ['src/cli/', 'src/app/', 'yargs'],
  'src/index.ts': ['src/', '@openai/agents', 'zod'],
  'src/testing.ts': ['src/', '@openai/agents', 'vitest', 'node:crypto'],
};

const folderOf = (file: string) => Object.keys(ALLOWED_IMPORTS).find((prefix) => file.startsWith(prefix));

/** Every import for which the predicate holds, as `file imports target`. */
function findImports(predicate: (file: string, target: string) => boolean): string[] {
  return files.flatMap((file) =>
    (imports.get(file) ?? [])
      .filter((target) => predicate(file, target))
      .map((target) => `${file} imports ${target}`),
  );
}

test('every source file belongs to a listed folder', () => {
  expect(files.filter((file) => folderOf(file) === undefined)).toEqual([]);
});

test('folders import only what their layer allows', () => {
  const wrong = findImports((file, target) => {
    const folder = folderOf(file) ?? '';
    if (folder === 'src/adapters/' && !target.startsWith('src/')) return false;
    return ![folder, ...(ALLOWED_IMPORTS[folder] ?? [])].some((prefix) => target.startsWith(prefix));
  });
  expect(wrong).toEqual([]);
});

test('only app and adapters import adapters', () => {
  const wrong = findImports(
    (file, target) => target.startsWith('src/adapters/') && !/^src\/(app|adapters)\//.test(file),
  );
  expect(wrong).toEqual([]);
});

test('server/http imports none of the server APIs', () => {
  const wrong = findImports(
    (file, target) =>
      file.startsWith('src/server/http/') &&
      target.startsWith('src/server/') &&
      !target.startsWith('src/server/http/'),
  );
  expect(wrong).toEqual([]);
});

test('only main imports cli, and app imports no user interface', () => {
  const wrong = findImports(
    (file, target) =>
      (target.startsWith('src/cli/') && !/^src\/(cli\/|main\.ts)/.test(file)) ||
      (file.startsWith('src/app/') && /^src\/(cli|web|main|index|testing)/.test(target)),
  );
  expect(wrong).toEqual([]);
});

test('other folders import citations through its public files', () => {
  const publicFiles = [
    'check-answer',
    'clean-answer',
    'check-sentence',
    'find-markers',
    'marker-numbers',
    'merge-markers',
    'source-register',
    'word-checker',
  ].map((name) => `src/citations/${name}.ts`);
  const wrong = findImports(
    (file, target) =>
      target.startsWith('src/citations/') &&
      !file.startsWith('src/citations/') &&
      !publicFiles.includes(target),
  );
  expect(wrong).toEqual([]);
});

test('there are no import cycles', () => {
  const cycles: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  function follow(file: string): void {
    const at = path.indexOf(file);
    if (at >= 0) cycles.push([...path.slice(at), file].join(' -> '));
    if (at >= 0 || done.has(file)) return;
    path.push(file);
    for (const target of imports.get(file) ?? []) if (imports.has(target)) follow(target);
    path.pop();
    done.add(file);
  }
  files.forEach(follow);
  expect(cycles).toEqual([]);
});

test('web pages do not bundle zod, whose use of eval their content security policy forbids', () => {
  const valueImports = (file: string) =>
    Array.from(
      readFileSync(file, 'utf8').matchAll(/(?:import|export)\s+(?!type\b)[^;]*?from\s+'([^']+)'/g),
      ([, target = '']) => (target.startsWith('.') ? normalize(join(dirname(file), target)) : target),
    );
  const reached = new Set(files.filter((file) => file.startsWith('src/web/')));
  for (const file of reached)
    for (const target of valueImports(file)) if (imports.has(target)) reached.add(target);
  expect([...reached].filter((file) => valueImports(file).includes('zod'))).toEqual([]);
});

test('each vendor package is imported by one folder', () => {
  const vendorFolders: Record<string, RegExp> = {
    'onnxruntime-common': /^src\/adapters\/onnx\//,
    'node:sqlite': /^src\/adapters\/sqlite\//,
    unpdf: /^src\/adapters\/documents\/pdf/,
    undici: /^src\/adapters\/web\//,
    openai: /^src\/adapters\/openai\//,
    'cohere-ai': /^src\/adapters\/cohere\//,
    '@qdrant/js-client-rest': /^src\/adapters\/qdrant\//,
    hono: /^src\/server\//,
    '@hono/node-server': /^src\/server\//,
    msw: /^src\/tape\//,
    '@modelcontextprotocol/server': /^src\/server\/mcp\//,
    yargs: /^src\/(cli\/|main\.ts)/,
    preact: /^src\/web\//,
    lowlight: /^src\/web\//,
  };
  const wrong = findImports((file, target) => {
    const vendor = Object.keys(vendorFolders).find(
      (name) => target === name || target.startsWith(`${name}/`),
    );
    return vendor !== undefined && vendorFolders[vendor]?.test(file) !== true;
  });
  expect(wrong).toEqual([]);
});

test('only config reads environment variables', () => {
  // Setting a variable for a library is allowed.
  const reading = /process\.env(?!\.\w+ = )/;
  const readers = files.filter((file) => reading.test(readFileSync(file, 'utf8')));
  expect(readers.filter((file) => !file.startsWith('src/config/'))).toEqual([]);
});

test('SQL has no numbered parameters, which Node 22 binds to the wrong values', () => {
  const numbered = files.filter(
    (file) => file.startsWith('src/adapters/sqlite/') && /[\s(,]\?[1-9]/.test(readFileSync(file, 'utf8')),
  );
  expect(numbered).toEqual([]);
});

test('docs/architecture.md names only files that exist', () => {
  const map = readFileSync('docs/architecture.md', 'utf8');
  const named = Array.from(
    map.matchAll(/`((?:src|bin|test|[a-z]+)\/[\w/.-]*\w\.(?:ts|js))`/g),
    ([, name = '']) => name,
  );
  expect(named.length).toBeGreaterThan(50);
  const placeholders = /\/x\.ts$/;
  const missing = named.filter(
    (name) =>
      !placeholders.test(name) &&
      ![name, `src/${name}`, `src/server/${name}`].some((path) => existsSync(path)),
  );
  expect(missing).toEqual([]);
});
