import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** One bundle with a chunk per command: a process that starts fast reads few files. */
export default defineConfig({
  input: { main: 'src/main.ts', index: 'src/index.ts' },
  platform: 'node',
  // Native, or large and seldom needed: these are loaded from node_modules where they are first used.
  external: ['onnxruntime-node', 'unpdf', 'undici'],
  transform: { define: { CITELOOP_VERSION: JSON.stringify(version) } },
  output: { dir: 'dist', format: 'esm', cleanDir: true, chunkFileNames: '[name]-[hash].js', sourcemap: false },
});
