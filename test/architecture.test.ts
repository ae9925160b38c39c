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

/**
 * What each room may import besides itself: a prefix of a path, or the name of a package. Every room and every file
 * that stands directly in `src` is here, so a new one must say what it stands on.
 */
const MAY_IMPORT: Record<string, string[]> = {
  'src/package.ts': ['node:'],
  // Waiting, whatever for: gates, locks, a queue of events, what is opened once.
  'src/async/': [],
  'src/text/': ['stemmer'],
  'src/faults/': ['src/text/', 'zod', 'node:timers'],
  // Hashing is as pure as the rest of it.
  'src/domain/': ['src/text/', 'src/faults/', 'zod', 'node:crypto'],
  'src/ports/': ['src/domain/', 'src/faults/'],
  'src/config/': ['src/text/', 'src/faults/', 'src/domain/', 'zod', 'node:'],
  'src/ingest/': ['src/text/', 'src/faults/', 'src/domain/', 'src/ports/', 'node:crypto'],
  // What became of a passage also depends on whether its file is still there.
  'src/retrieval/': ['src/text/', 'src/faults/', 'src/domain/', 'src/ports/', 'node:fs'],
  'src/judge/': ['src/text/', 'src/faults/', 'src/domain/', 'src/ports/', 'zod'],
  'src/citations/': ['src/text/', 'src/domain/', 'src/judge/'],
  'src/agent/': [
    'src/async/',
    'src/text/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/retrieval/',
    'src/judge/',
    'src/citations/',
    '@openai/agents',
    'zod',
    'node:timers',
    'node:crypto',
  ],
  // It notes what comes of an agent's turns, and sees no more of it than any caller.
  'src/tape/': [
    'src/text/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/agent/agent.ts',
    'msw',
    'zod',
    'yaml',
    'node:',
  ],
  // It judges by the very rules that the agent checks its answers with, and sees no more of it than any caller.
  'src/evaluation/': [
    'src/text/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/retrieval/what-became.ts',
    'src/retrieval/file-is-gone.ts',
    'src/citations/',
    'src/agent/agent.ts',
    'src/agent/complete-turn.ts',
    'zod',
    'yaml',
    'node:',
  ],
  'src/server/': [
    'src/async/',
    'src/text/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/retrieval/',
    'src/citations/',
    'src/agent/agent.ts',
    'src/agent/complete-turn.ts',
    'src/agent/stale-citations.ts',
    '@modelcontextprotocol/sdk',
    '@hono/node-server',
    'hono',
    'zod',
    'node:',
  ],
  // They run in a browser, and know the server and the evaluation by the shape of what they are given.
  'src/web/': [
    'src/text/',
    'src/faults/',
    'src/domain/',
    'src/ports/',
    'src/evaluation/report/',
    'preact',
    'hast',
    'mdast-util-',
    'remark-',
    'uni',
  ],
  // Each implements a port; what they share is below the ports. They know no feature and no command.
  'src/adapters/': ['src/async/', 'src/text/', 'src/faults/', 'src/domain/', 'src/ports/', ''],
  // The composition root: it alone joins features and adapters.
  'src/app/': ['src/', '@openai/agents', 'node:'],
  'src/cli/': ['src/', 'yargs', 'zod', 'yaml', 'mdast', 'remark-', 'uni', 'node:'],
  'src/main.ts': ['src/cli/', 'src/app/', 'yargs'],
  'src/index.ts': ['src/', '@openai/agents'],
  'src/testing.ts': ['src/', 'vitest'],
};

const roomOf = (file: string) => Object.keys(MAY_IMPORT).find((prefix) => file.startsWith(prefix));

/** All pairs of a file and what it imports for which the predicate holds, as sentences. */
function whereImports(predicate: (file: string, target: string) => boolean): string[] {
  return files.flatMap((file) =>
    (imports.get(file) ?? [])
      .filter((target) => predicate(file, target))
      .map((target) => `${file} imports ${target}`),
  );
}

test('every file is in a room', () => {
  expect(files.filter((file) => roomOf(file) === undefined)).toEqual([]);
});

test('dependencies point one way', () => {
  const wrong = whereImports((file, target) => {
    const room = roomOf(file) ?? '';
    if (room === 'src/adapters/' && !target.startsWith('src/')) return false;
    return ![room, ...(MAY_IMPORT[room] ?? [])].some((prefix) => prefix !== '' && target.startsWith(prefix));
  });
  expect(wrong).toEqual([]);
});

test('the composition root alone imports adapters, besides adapters themselves', () => {
  const wrong = whereImports(
    (file, target) => target.startsWith('src/adapters/') && !/^src\/(app|adapters)\//.test(file),
  );
  expect(wrong).toEqual([]);
});

test('the plain HTTP parts of the server know none of its APIs', () => {
  const wrong = whereImports(
    (file, target) =>
      file.startsWith('src/server/http/') &&
      target.startsWith('src/server/') &&
      !target.startsWith('src/server/http/'),
  );
  expect(wrong).toEqual([]);
});

test('nothing imports the command line but the program, and the composition root imports no command or server', () => {
  const wrong = whereImports(
    (file, target) =>
      (target.startsWith('src/cli/') && !/^src\/(cli\/|main\.ts)/.test(file)) ||
      (file.startsWith('src/app/') && /^src\/(cli|web|main|index|testing)/.test(target)),
  );
  expect(wrong).toEqual([]);
});

test('of the citations, others see what checks an answer, what finds its markers and what keeps its sources', () => {
  const door = ['check-answer', 'find-markers', 'source-register'].map((name) => `src/citations/${name}.ts`);
  const wrong = whereImports(
    (file, target) =>
      target.startsWith('src/citations/') && !file.startsWith('src/citations/') && !door.includes(target),
  );
  expect(wrong).toEqual([]);
});

test('no import leads back to where it came from', () => {
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

test('the pages hold no schema library, which would try to evaluate text and break their policy', () => {
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

test('each vendor has one home', () => {
  const homes: Record<string, RegExp> = {
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
    '@modelcontextprotocol/sdk': /^src\/server\/mcp\//,
    yargs: /^src\/(cli\/|main\.ts)/,
    preact: /^src\/web\//,
  };
  const wrong = whereImports((file, target) => {
    const vendor = Object.keys(homes).find((name) => target === name || target.startsWith(`${name}/`));
    return vendor !== undefined && homes[vendor]?.test(file) !== true;
  });
  expect(wrong).toEqual([]);
});

test('only config reads the environment', () => {
  // To set a variable for a library that reads it is another matter.
  const reading = /process\.env(?!\.\w+ = )/;
  const readers = files.filter((file) => reading.test(readFileSync(file, 'utf8')));
  expect(readers.filter((file) => !file.startsWith('src/config/'))).toEqual([]);
});

test('rooms are neither deep nor crowded', () => {
  const rooms = Map.groupBy(files, dirname);
  const deep = [...rooms.keys()].filter((room) => room.split('/').length > 4);
  const crowded = [...rooms].filter(([, inside]) => inside.length > 25).map(([room]) => room);
  expect({ deep, crowded }).toEqual({ deep: [], crowded: [] });
});

test('the map names only what is there', () => {
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
