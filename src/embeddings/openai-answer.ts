import type { EmbedderFault } from "./embedder.ts";
import { settingsFault } from "./openai-fault.ts";

/**
 * The vectors of an answer, each of length 1, in the order of the texts. Nothing of the answer is trusted: servers that
 * speak this API were seen to send other sizes than asked for, zeros, and texts in another order.
 *
 * @param count how many texts were sent
 * @param dimensions how long each vector has to be; undefined takes what comes
 * @throws EmbedderFault
 */
export function vectorsOf(
  answer: unknown,
  count: number,
  dimensions: number | undefined,
): Float32Array<ArrayBuffer>[] {
  const { data } = (answer ?? {}) as { data?: unknown };
  if (!Array.isArray(data) || data.length !== count) throw unreadable();
  const vectors: Float32Array<ArrayBuffer>[] = new Array(count);
  for (const entry of data) {
    const { index, embedding } = (entry ?? {}) as { index?: unknown; embedding?: unknown };
    if (!Number.isInteger(index) || !((index as number) in data) || (index as number) in vectors) {
      throw unreadable();
    }
    const vector = unitVector(embedding);
    const expected = dimensions ?? vectors.find((other) => other)?.length ?? vector.length;
    if (vector.length !== expected) throw otherSize(vector.length, expected);
    vectors[index as number] = vector;
  }
  return vectors;
}

function unitVector(embedding: unknown): Float32Array<ArrayBuffer> {
  if (!Array.isArray(embedding) || !embedding.every(Number.isFinite)) throw unreadable();
  const norm = Math.hypot(...(embedding as number[]));
  if (!(norm > 0)) throw unreadable();
  return Float32Array.from(embedding as number[], (x) => x / norm);
}

function unreadable(): EmbedderFault {
  return settingsFault(
    "The embedding provider's answer holds no usable vectors.",
    "Check that OPENAI_BASE_URL is a server that speaks OpenAI's /embeddings with float vectors.",
  );
}

function otherSize(length: number, expected: number): EmbedderFault {
  return settingsFault(
    `The embedding provider sends vectors of ${length} numbers, not of ${expected}.`,
    `Set EMBEDDING_DIMENSIONS to ${length}, or unset it where the provider does not take it.`,
  );
}
