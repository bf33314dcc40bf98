import { createHash, randomBytes } from "node:crypto";

/** Lets secret scanners recognise a leaked key. */
const PREFIX = "svr_";

/** A new API key: 256 random bits. Shown once, never stored. */
export function newKey(): string {
  return PREFIX + randomBytes(32).toString("base64url");
}

/** What is stored of a key, hex SHA-256. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/**
 * The credential of an `Authorization` header. The scheme's name is case-insensitive (RFC 9110 §11.1), and some clients
 * put a tab behind it.
 */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer[ \t]+([^\s,]{1,512})[ \t]*$/i.exec(header ?? "")?.[1];
}
