import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** Prints `N passed, N failed, N skipped` as the last line, for scripts, and the command that runs only failed files. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) count.failed += 1;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    const failed = modules
      .filter((module) => module.state() === 'failed')
      .map(({ moduleId }) => relative(process.cwd(), moduleId));
    if (failed.length > 0) process.stdout.write(`\nRun again: npx vitest run ${failed.join(' ')}\n`);
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
  }
}
