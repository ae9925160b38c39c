import { readFileSync, statSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What a file imports that starts programs, servers or browsers. */
const STARTS =
  /'node:child_process'|\/(run-cli|served-home|start-program|qdrant-server|qdrant-cluster|browser|start-writer)\.ts'/;

/** What tries the largest of inputs. */
const LARGE_INPUTS = /\/(limits|parse-apart|load)\.test\.ts$/;

/** Files that start programs or read much take longest, and large ones longer than small: begun first, the workers end together. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weights = new Map(files.map((file) => [file, weightOf(file.moduleId)]));
    return files.toSorted((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0));
  }
}

function weightOf(path: string): number {
  const takesLong = LARGE_INPUTS.test(path) || STARTS.test(readFileSync(path, 'utf8'));
  return statSync(path).size * (takesLong ? 1000 : 1);
}
