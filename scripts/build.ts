import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build as bundle } from 'rolldown';
import { build as buildPage } from 'vite';
import { thirdPartyNotices } from './third-party-notices.ts';

const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
};

/** Modules that every command loads at start-up, and those of the model's worker. */
const LOADED_EARLY =
  /src\/(faults\/(app-error|advice)|domain\/(setting-choices|unit-vectors|vector-scan)|text\/(visible-text|display-width|nearest-name))\.ts$/;
/** Modules whose only imports from src are each other, so one chunk can hold them all. */
const FOUNDATION = /src\/(domain|text|faults)\//;
/** Class names survive minification, because code distinguishes errors by them. */
const keepNames = { class: true, function: false };

for (const stale of globSync('dist/*.{js,1}')) rmSync(stale);

const { output } = await bundle({
  logLevel: 'warn',
  input: {
    main: 'src/main.ts',
    index: 'src/index.ts',
    testing: 'src/testing.ts',
    'model-worker': 'src/adapters/onnx/model-worker.ts',
    'parse-worker': 'src/app/parse-worker.ts',
  },
  // The groups below put modules of one entry into the chunk of another.
  preserveEntrySignatures: 'allow-extension',
  platform: 'node',
  // yargs measures only our own help, which has no wide characters; string-width costs 30 ms at start-up.
  resolve: { alias: { 'string-width': resolve('src/cli/terminal/plain-width.ts') } },
  treeshake: { moduleSideEffects: (id) => !/node_modules\/@modelcontextprotocol\//.test(id) },
  // Dependencies are loaded from node_modules; dev dependencies are bundled (decisions/0026).
  external: [...Object.keys(dependencies), 'vitest', '@opentelemetry/sdk-node'].map(
    (name) => new RegExp(`^${name}(/|$)`),
  ),
  transform: { define: { CITELOOP_VERSION: JSON.stringify(version) } },
  output: {
    dir: 'dist',
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: false,
    minify: { compress: { keepNames }, mangle: { keepNames }, codegen: true },
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: 'foundation', test: (id) => FOUNDATION.test(id) && !LOADED_EARLY.test(id) }],
    },
  },
});

const pages = [];
for (const mode of ['chat', 'report']) pages.push(await buildPage({ mode, logLevel: 'warn' }));

const chunks = [...output, ...pages.flat().flatMap((page) => ('output' in page ? page.output : []))];
const modules = chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
writeFileSync('dist/THIRD-PARTY-NOTICES.txt', thirdPartyNotices(modules));
