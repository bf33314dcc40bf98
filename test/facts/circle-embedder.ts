import type { Embedder, EmbedderFault } from "../../src/embeddings/embedder.ts";

/** Vectors of length 1 on a circle: the cosine of two texts is that of the angle between them. */
export function embedderOf(angles: Readonly<Record<string, number>>) {
  const asked: string[][] = [];
  let fault: EmbedderFault | undefined;
  const embedder: Embedder = {
    name: "local",
    model: async () => ({ fingerprint: "circle", dimensions: 2, floor: 0.3, mergeThreshold: 0.8 }),
    async embed(texts) {
      if (fault) throw fault;
      asked.push([...texts]);
      return texts.map((text) => {
        const angle = ((angles[text] ?? 180) * Math.PI) / 180;
        return Float32Array.of(Math.cos(angle), Math.sin(angle));
      });
    },
    close: async () => {},
  };
  return {
    embedder,
    asked,
    fail(next: EmbedderFault | undefined) {
      fault = next;
    },
  };
}
