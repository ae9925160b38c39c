import { execFileSync } from 'node:child_process';
import { globSync, rmSync, statSync } from 'node:fs';
import { ensureModel } from '../../src/adapters/onnx/weights.ts';
import { modelLocation } from './model-weights.ts';

/** Before any test: `dist/` is built from the sources as they are, and the model is in the user's cache. */
export default async function setup(): Promise<void> {
  if (isStale()) build();
  await ensureModel(modelLocation(), {});
}

/** Where it fails, tests of the built program must fail too, and not run an earlier build. */
function build(): void {
  try {
    execFileSync('npm', ['run', 'build', '--silent'], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    rmSync('dist', { recursive: true, force: true });
  }
}

function isStale(): boolean {
  const built = statSync('dist/main.js', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return globSync(['src/**/*.{ts,tsx,css,html}', '*.config.ts', 'package-lock.json']).some(
    (file) => statSync(file).mtimeMs > built,
  );
}
