import type { FastifyReply, FastifyRequest } from "fastify";
import type { SignedIn } from "../access/sessions.ts";

const NAME = "souvenir_session";
/** No page of another site, and no script, can use or read it. */
const SCOPE = { path: "/ui", httpOnly: true, sameSite: "strict" } as const;

export function sessionToken({ cookies }: FastifyRequest): string | undefined {
  return cookies[NAME];
}

/** A browser that came by TLS, which ends in front of us, says so in the form's `Origin`. */
export function keepSession(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { token, expiresAt }: SignedIn,
): void {
  const secure = headers.origin?.startsWith("https:") === true;
  reply.setCookie(NAME, token, { ...SCOPE, secure, expires: expiresAt });
}

export function forgetSession(reply: FastifyReply): void {
  reply.clearCookie(NAME, SCOPE);
}
