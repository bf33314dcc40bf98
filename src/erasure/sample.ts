import { createHash, randomBytes } from "node:crypto";

/** Shorter texts are said by many. */
const LEAST = 24;
const MOST = 64;

export interface Samples {
  readonly salt: string;
  readonly hashes: readonly string[];
}

/** Salted hashes of some long texts: enough to find the same text again, and nothing to read it from. */
export function sampleOf(texts: readonly string[]): Samples {
  const salt = randomBytes(16).toString("hex");
  const long = [...new Set(texts)].filter((text) => [...text].length >= LEAST).slice(0, MOST);
  return { salt, hashes: long.map((text) => hashOf(salt, text)) };
}

function hashOf(salt: string, text: string): string {
  return createHash("sha256")
    .update(salt + text)
    .digest("hex");
}
