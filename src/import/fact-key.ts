import { createHash } from "node:crypto";

const HASH_LENGTH = 8;
/** Names that a key can spell and nothing gets lost but for case and spaces. */
const PLAIN = /^[A-Za-z0-9]+(?:[ _][A-Za-z0-9]+)*$/;
/** Keys under `watch.` are about other sites. */
const RESERVED = "watch";

/**
 * A key of the words of names, each within its length. Two names get two keys: what letters and digits cannot tell, a
 * hash does.
 */
export function factKey(...names: readonly (readonly [name: string, length: number])[]): string {
  return names.map(([name, length]) => slugOf(name, length)).join(".");
}

function slugOf(name: string, length: number): string {
  const words = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
  if (PLAIN.test(name) && words.length <= length && words !== RESERVED) return words;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  const start = words.slice(0, length - HASH_LENGTH - 1).replace(/_$/, "");
  return start === "" ? hash : `${start}_${hash}`;
}
