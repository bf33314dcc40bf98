import type { FastifyReply, FastifyRequest } from "fastify";
import type { SignedIn } from "../access/sessions.ts";

/** A browser keeps this name only from a secure connection, for the whole host and no other: no sibling can plant it. */
const SECURE_NAME = "__Host-souvenir_session";
const NAME = "souvenir_session";

/** No page of another site, and no script, can use or read it. */
const GUARDED = { httpOnly: true, sameSite: "strict" } as const;
const SECURE = { ...GUARDED, path: "/", secure: true } as const;
const PLAIN = { ...GUARDED, path: "/ui" } as const;

export function sessionToken({ cookies }: FastifyRequest): string | undefined {
  return cookies[SECURE_NAME] ?? cookies[NAME];
}

/** A browser that came by TLS, which ends in front of us, says so in the form's `Origin`. */
export function keepSession(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { token, expiresAt }: SignedIn,
): void {
  const isSecure = headers.origin?.startsWith("https:") === true;
  if (isSecure) reply.setCookie(SECURE_NAME, token, { ...SECURE, expires: expiresAt });
  else reply.setCookie(NAME, token, { ...PLAIN, expires: expiresAt });
}

export function forgetSession({ cookies }: FastifyRequest, reply: FastifyReply): void {
  if (cookies[SECURE_NAME] !== undefined) reply.clearCookie(SECURE_NAME, SECURE);
  reply.clearCookie(NAME, PLAIN);
}
