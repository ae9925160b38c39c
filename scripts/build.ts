import { globSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'rolldown';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** Read by the command line itself, before anything is done, or by the thread of the model. */
const READ_EARLY =
  /src\/(faults\/(app-error|advice|fault-message)|domain\/choices|text\/(visible-text|display-width|nearest-name))\.ts$/;
/** These import nothing of ours but each other, so that whatever imports them can share one chunk. */
const FOUNDATION = /src\/(domain|text|faults)\/|node_modules\/(zod|stemmer)\//;
/** Packages call their errors by the names of their classes, and we tell faults apart by them. */
const keepNames = { class: true, function: false };
const KEEPING_CLASS_NAMES = { compress: { keepNames }, mangle: { keepNames }, codegen: true };

// What is beside them in dist, the pages and the types, is built by others.
for (const stale of globSync('dist/*.js')) rmSync(stale);

/** One bundle with a chunk per command: a process that starts fast reads few files. */
await build({
  // Whoever installs it is not interested in the parts.
  logLevel: 'warn',
  input: {
    main: 'src/main.ts',
    index: 'src/index.ts',
    testing: 'src/testing.ts',
    'model-worker': 'src/adapters/onnx/model-worker.ts',
    'parse-worker': 'src/adapters/documents/parse-worker.ts',
    'judge-worker': 'src/app/judge-worker.ts',
  },
  // Chunks may hold more than their entry exports, since some modules were put together by hand below.
  preserveEntrySignatures: 'allow-extension',
  platform: 'node',
  // What yargs measures is our own help, in plain characters; the real one costs 30 ms at start-up.
  resolve: { alias: { 'string-width': resolve('src/cli/terminal/plain-width.ts') } },
  // Their modules do nothing on import that we rely on, so what is not used is left out: of the Agents SDK its
  // realtime part, and what it would set for the whole process (decisions/0005).
  treeshake: {
    moduleSideEffects: (id) => !/node_modules\/(@openai|openai|zod|@modelcontextprotocol)\//.test(id),
  },
  // Large and seldom needed: these are loaded from node_modules where they are first used.
  external: [
    'unpdf',
    'undici',
    'vitest',
    'mammoth',
    '@asciidoctor/core',
    '@vscode/tree-sitter-wasm',
    /^(msw|read-excel-file)(\/|$)/,
  ],
  transform: { define: { CITELOOP_VERSION: JSON.stringify(version) } },
  output: {
    dir: 'dist',
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: false,
    minify: KEEPING_CLASS_NAMES,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        { name: 'foundation', test: (id) => FOUNDATION.test(id) && !READ_EARLY.test(id) },
        { name: 'sdk', test: /node_modules\/@openai\/agents-core\// },
      ],
    },
  },
});
