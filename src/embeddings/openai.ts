import type { Embedder, EmbeddingModel, Priority } from "./embedder.ts";
import { type EmbeddingsEndpoint, type EndpointOptions, openEndpoint } from "./openai-endpoint.ts";
import { settingsFault } from "./openai-fault.ts";
import { headOf } from "./text.ts";

/** A token is one byte at least: OpenAI reads 8,192 a text and takes 2,048 texts and 300,000 tokens a request. */
const MAX_BYTES = 8_000;
const MAX_REQUEST_BYTES = 100_000;
const MAX_REQUEST_TEXTS = 256;
/** Servers of models that read 512 tokens refuse a longer text instead of cutting it. */
const SHORT_BYTES = 1_000;
/** A text that no provider refuses. */
const PROBE = "hello";

/** Vector sizes that need not be asked for. */
const KNOWN_DIMENSIONS: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1_536,
  "text-embedding-3-large": 3_072,
};

/** Of texts, what is sent, and where its vector belongs. */
interface Input {
  readonly text: string;
  readonly index: number;
}
type Vectors = (Float32Array<ArrayBuffer> | null)[];

/**
 * OpenAI's embeddings, or those of a server that speaks its API. Of a text the first 8,000 bytes go out. A query waits for
 * no background work: their requests go out beside each other.
 */
class OpenAiEmbedder implements Embedder {
  readonly name = "openai";
  readonly #endpoint: EmbeddingsEndpoint;
  readonly #modelName: string;
  #dimensions: number | undefined;

  constructor(endpoint: EmbeddingsEndpoint, { model, dimensions }: EndpointOptions) {
    this.#endpoint = endpoint;
    this.#modelName = model;
    this.#dimensions = dimensions ?? KNOWN_DIMENSIONS[model];
  }

  async model(signal?: AbortSignal): Promise<EmbeddingModel> {
    this.#dimensions ??= (await this.#probe(undefined, signal)).length;
    return modelOf(this.#modelName, this.#dimensions);
  }

  async embed(
    texts: readonly string[],
    _priority: Priority,
    signal?: AbortSignal,
  ): Promise<Vectors> {
    signal?.throwIfAborted();
    const inputs = texts.flatMap((whole, index) => {
      const text = headOf(whole, MAX_BYTES);
      return text === undefined ? [] : [{ text, index }];
    });
    const vectors: Vectors = texts.map(() => null);
    for (const batch of batchesOf(inputs)) {
      const found = await this.#embedBatch(batch, signal);
      batch.forEach(({ index }, i) => {
        vectors[index] = found[i] ?? null;
      });
    }
    return vectors;
  }

  async close(): Promise<void> {
    this.#endpoint.close();
  }

  /** Of a batch that is refused the halves are tried, so that one text does not keep the others back. */
  async #embedBatch(batch: readonly Input[], signal: AbortSignal | undefined): Promise<Vectors> {
    const { dimensions } = await this.model(signal);
    const texts = batch.map(({ text }) => text);
    const vectors = await this.#endpoint.request(texts, dimensions, signal);
    if (vectors) return vectors;
    const [only = ""] = texts;
    if (batch.length === 1) return [await this.#embedRefused(only, dimensions, signal)];
    // Else each half of a batch that nobody takes would be tried to the last text.
    await this.#probe(dimensions, signal);
    const half = Math.ceil(batch.length / 2);
    return [
      ...(await this.#embedBatch(batch.slice(0, half), signal)),
      ...(await this.#embedBatch(batch.slice(half), signal)),
    ];
  }

  /** null where its beginning is refused too, and another text is not. */
  async #embedRefused(text: string, dimensions: number, signal: AbortSignal | undefined) {
    const head = headOf(text, SHORT_BYTES);
    if (head !== undefined && head !== text) {
      const [vector] = (await this.#endpoint.request([head], dimensions, signal)) ?? [];
      if (vector) return vector;
    }
    await this.#probe(dimensions, signal);
    return null;
  }

  /** @throws EmbedderFault where not even this text is taken: the settings are at fault, not a text */
  async #probe(dimensions: number | undefined, signal: AbortSignal | undefined) {
    const [vector] = (await this.#endpoint.request([PROBE], dimensions, signal)) ?? [];
    if (vector) return vector;
    throw settingsFault(
      "The embedding provider does not take our requests.",
      "Check EMBEDDING_MODEL, and unset EMBEDDING_DIMENSIONS where the model has one size only.",
    );
  }
}

export async function openAiEmbedder(options: EndpointOptions): Promise<Embedder> {
  return new OpenAiEmbedder(await openEndpoint(options), options);
}

/**
 * `v1` stands for the way that texts are prepared here. The address is no part of it: the same model elsewhere is the same.
 *
 * Thresholds are those of OpenAI's third generation, on the careful side, as no answers were measured. Of other models
 * nothing is known: some give unrelated texts .7.
 */
function modelOf(model: string, dimensions: number): EmbeddingModel {
  return {
    fingerprint: `openai/${model}/${dimensions}/v1`,
    dimensions,
    floor: model in KNOWN_DIMENSIONS ? 0.2 : 0,
    mergeThreshold: 0.92,
  };
}

function* batchesOf(inputs: readonly Input[]): Generator<readonly Input[]> {
  let batch: Input[] = [];
  let bytes = 0;
  for (const input of inputs) {
    const size = Buffer.byteLength(input.text);
    if (batch.length === MAX_REQUEST_TEXTS || bytes + size > MAX_REQUEST_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(input);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
