import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/databases.setup.ts"],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores and two databases: more workers only make the slow tests slower.
    maxWorkers: 2,
  },
});
