import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Embedder, EmbeddingModel, Priority } from "../src/embeddings/embedder.ts";

/** Where vectors of benchmarks are kept between runs; not part of the repository. */
const FOLDER = join(import.meta.dirname, "../node_modules/.cache/souvenir-bench");
const HASH_BYTES = 32;

/**
 * An embedder that asks another one for each text once in a lifetime: vectors are kept in a file by the fingerprint of
 * the model and the hash of the text. The vectors are the same bytes as without it.
 */
export class CachedEmbedder implements Embedder {
  readonly name: Embedder["name"];
  readonly #inner: Embedder;
  readonly #known = new Map<string, Float32Array<ArrayBuffer>>();
  #file: string | undefined;

  constructor(inner: Embedder) {
    this.#inner = inner;
    this.name = inner.name;
  }

  async model(): Promise<EmbeddingModel> {
    const model = await this.#inner.model();
    if (this.#file === undefined) this.#open(model);
    return model;
  }

  async embed(texts: readonly string[], priority: Priority, signal?: AbortSignal) {
    await this.model();
    const hashes = texts.map(hashOf);
    const missing = [...new Set(hashes.keys())].filter((n) => !this.#known.has(hashes[n] ?? ""));
    const made = await this.#inner.embed(
      missing.map((n) => texts[n] ?? ""),
      priority,
      signal,
    );
    for (const [n, vector] of made.entries()) {
      if (vector) this.#keep(hashes[missing[n] ?? 0] ?? "", vector);
    }
    return hashes.map((hash) => this.#known.get(hash) ?? null);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #open({ fingerprint, dimensions }: EmbeddingModel): void {
    mkdirSync(FOLDER, { recursive: true });
    this.#file = join(FOLDER, `${hashOf(fingerprint).slice(0, 16)}.vectors`);
    if (!existsSync(this.#file)) return;
    const bytes = readFileSync(this.#file);
    const record = HASH_BYTES + dimensions * 4;
    // A run that was killed may have left half a record at the end.
    truncateSync(this.#file, bytes.length - (bytes.length % record));
    for (let at = 0; at + record <= bytes.length; at += record) {
      const vector = new Float32Array(dimensions);
      Buffer.from(vector.buffer).set(bytes.subarray(at + HASH_BYTES, at + record));
      this.#known.set(bytes.subarray(at, at + HASH_BYTES).toString("hex"), vector);
    }
  }

  #keep(hash: string, vector: Float32Array<ArrayBuffer>): void {
    if (this.#known.has(hash) || this.#file === undefined) return;
    this.#known.set(hash, vector);
    appendFileSync(
      this.#file,
      Buffer.concat([Buffer.from(hash, "hex"), Buffer.from(vector.buffer)]),
    );
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
