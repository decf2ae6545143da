import { defineConfig } from 'vitest/config';

// Tests run in forked processes: node:sqlite handles and child processes stay apart.
export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    globalSetup: ['infra/testing/global-setup.ts'],
    exclude: ['node_modules/**', 'results/**', 'data/**', '.tachograph/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
