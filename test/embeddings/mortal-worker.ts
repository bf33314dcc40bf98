/** The model's worker, which ends over one text, and over another the first time, and never answers a third. */
import { existsSync, writeFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";

parentPort?.on("message", (text: string) => {
  if (text === "end here") process.exit(1);
  const [, mark] = /^end once (\S+)$/.exec(text) ?? [];
  if (mark !== undefined && !existsSync(mark)) {
    writeFileSync(mark, "");
    process.exit(1);
  }
  // For longer than any test waits.
  if (text === "stay here") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
await import("../../src/embeddings/local-worker.ts");
