import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ensureOnnxEngine } from '../../src/adapters/onnx/engine.ts';
import { ensureWeights } from '../../src/adapters/onnx/weights.ts';
import { modelLocation } from './model-weights.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Shared by all test files and removed after the last one. */
    runDirectory: string;
  }
}

/** Builds `dist/` if it is older than the sources, and downloads the embedder's weights and engine into the user's cache. */
export default async function setup(project: TestProject): Promise<() => void> {
  if (isStale()) build();
  await ensureWeights(modelLocation(), {});
  await ensureOnnxEngine(modelLocation());
  const runDirectory = mkdtempSync(join(tmpdir(), 'citeloop-run-'));
  project.provide('runDirectory', runDirectory);
  return () => rmSync(runDirectory, { recursive: true, force: true });
}

/** Removes `dist/` if the build fails, so that tests do not run an old build. */
function build(): void {
  try {
    execFileSync('npm', ['run', 'build:program', '--silent'], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    rmSync('dist', { recursive: true, force: true });
  }
}

function isStale(): boolean {
  const built = statSync('dist/main.js', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return globSync([
    'src/**/*.{ts,tsx,css,html}',
    '*.config.ts',
    'scripts/build.ts',
    'package-lock.json',
  ]).some((file) => statSync(file).mtimeMs > built);
}
