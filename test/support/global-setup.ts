import { execFileSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { loadModelFiles } from '../../src/adapters/onnx/weights.ts';
import { modelLocation } from './model-weights.ts';

/** Before any test: `dist/` is built from the sources as they are, and the model is in the user's cache. */
export default async function setup(): Promise<void> {
  if (isStale()) execFileSync('npx', ['rolldown', '--config', 'rolldown.config.ts'], { stdio: ['ignore', 'ignore', 'inherit'] });
  await loadModelFiles(modelLocation(), {});
}

function isStale(): boolean {
  const built = statSync('dist/main.js', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return globSync(['src/**/*.ts', 'rolldown.config.ts', 'package-lock.json']).some(
    (file) => statSync(file).mtimeMs > built,
  );
}
