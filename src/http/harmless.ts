import type { FastifyReply } from "fastify";

/** What is no page may load nothing, and stand in no frame, whatever a browser takes it for. */
const POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Keeps browsers from guessing what an answer is, and from running what they find in it. Pages say more themselves. */
export function harmless(reply: FastifyReply): void {
  reply.header("x-content-type-options", "nosniff");
  if (!reply.hasHeader("content-security-policy")) reply.header("content-security-policy", POLICY);
}
