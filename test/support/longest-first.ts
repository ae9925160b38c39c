import { readFileSync, statSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Imports of helpers that start programs, servers or browsers. */
const SLOW_IMPORTS =
  /'node:child_process'|\/(run-cli|start-server|start-program|qdrant-server|qdrant-cluster|browser|start-writer)\.ts'/;

/** Tests with very large inputs. */
const LARGE_INPUTS = /\/(limits|parser-process|load)\.test\.ts$/;

/** Runs slow test files first, so that all workers finish at about the same time. */
export default class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weights = new Map(files.map((file) => [file, weightOf(file.moduleId)]));
    return files.toSorted((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0));
  }
}

function weightOf(path: string): number {
  const takesLong = LARGE_INPUTS.test(path) || SLOW_IMPORTS.test(readFileSync(path, 'utf8'));
  return statSync(path).size * (takesLong ? 1000 : 1);
}
