import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/databases.setup.ts"],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores and two databases: more workers only make the slow tests slower.
    maxWorkers: 2,
    // A worker keeps its modules from one file to the next: reading and compiling them again took a quarter of the time.
    isolate: false,
    // Each file has a process of its own, and each embedded database a thread: both would compile the same packages again.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "souvenir-compile-cache") },
    // Most embedded databases live for seconds: optimising PostgreSQL's WebAssembly costs them more than it saves. What runs
    // a hundred times as hot as Node's own threshold, such as a model, is optimised still; servers that tests start, as ever.
    execArgv: ["--wasm-tiering-budget=1300000000"],
  },
});
