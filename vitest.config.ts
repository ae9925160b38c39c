import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/worker-setup.ts'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    // A worker runs many files, so that modules are loaded and browsers and servers started once, not for each of
    // them. What a test changes for all is put back after it.
    isolate: false,
    unstubEnvs: true,
    restoreMocks: true,
    // Many tests wait for processes: with as many workers as cores the machine would idle.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
