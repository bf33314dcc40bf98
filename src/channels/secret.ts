import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Whether somebody showed a secret, in the same time whatever they showed; nobody knows an empty one. Hashes have one
 * length, which `timingSafeEqual` needs and which hides the secret's.
 */
export function isSecret(shown: unknown, secret: string): boolean {
  if (typeof shown !== "string" || secret === "") return false;
  return timingSafeEqual(sha256(shown), sha256(secret));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
