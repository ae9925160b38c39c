import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';
import LongestFirstSequencer from './test/support/longest-first.ts';

export default defineConfig({
  plugins: [packagesAsInstalled()],
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
    sequence: { sequencer: LongestFirstSequencer },
    // Nothing is told by these but that a test hangs: on a busy machine one that starts programs may take minutes.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
});

/** Tests load the files of packages that the program loads: not those for "development", which are slower. */
function packagesAsInstalled(): Plugin {
  return {
    name: 'packages-as-installed',
    configResolved({ ssr, environments }) {
      for (const { resolve } of [ssr, ...Object.values(environments)]) {
        if (resolve?.conditions === undefined) continue;
        resolve.conditions = resolve.conditions.filter((condition) => condition !== 'development|production');
      }
    },
  };
}
