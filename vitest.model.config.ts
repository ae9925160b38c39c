import { defineConfig } from 'vitest/config';

/** `npm run test:model`: with a real model, which is fetched once and takes minutes on a small machine. */
export default defineConfig({
  test: {
    include: ['test/model/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/worker-setup.ts'],
    reporters: ['verbose'],
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
  },
});
