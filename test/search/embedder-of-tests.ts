import { createHash } from "node:crypto";
import type { Embedder, EmbedderFault } from "../../src/embeddings/embedder.ts";

/** Gives every text with a letter or a digit a vector of its own, and says what it was asked for. */
export class EmbedderOfTests implements Embedder {
  readonly name = "local";
  /** Texts of each call for documents. */
  readonly batches: string[][] = [];
  queries = 0;
  fingerprint = "of-tests/8";
  /** Runs while a batch is on its way. */
  during: ((signal: AbortSignal | undefined) => Promise<void>) | undefined;
  fault: EmbedderFault | undefined;
  /** Queries are not answered until their signal ends them. */
  hangs = false;

  get texts(): string[] {
    return this.batches.flat();
  }

  async model() {
    const { fingerprint } = this;
    return { fingerprint, dimensions: 8, floor: 0.5, mergeThreshold: 0.99 };
  }

  async embed(texts: readonly string[], priority: "query" | "background", signal?: AbortSignal) {
    if (this.fault) throw this.fault;
    if (priority === "query") {
      this.queries++;
      if (this.hangs) await ended(signal);
    } else {
      this.batches.push([...texts]);
      await this.during?.(signal);
      signal?.throwIfAborted();
    }
    return texts.map((text) => (/[\p{L}\p{N}]/u.test(text) ? vectorOf(text) : null));
  }

  async close(): Promise<void> {}
}

function ended(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
  });
}

function vectorOf(text: string): Float32Array<ArrayBuffer> {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 8);
  const norm = Math.hypot(...[...bytes].map((byte) => byte - 127.5));
  return Float32Array.from(bytes, (byte) => (byte - 127.5) / norm);
}
