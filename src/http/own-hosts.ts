import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";

/**
 * Refuses what a page in a browser can send to a server in its user's network: by a name that the page made point here
 * (DNS rebinding), or from its own origin. With `AUTH=none` nothing else would stop it from making itself a key.
 *
 * @param allowed host names beside the loopback ones, without ports
 */
export function ownHosts(allowed: readonly string[]) {
  const hosts = [...localhostAllowedHostnames(), ...allowed.map((host) => host.toLowerCase())];
  return async ({ headers }: FastifyRequest): Promise<void> => {
    const host = validateHostHeader(headers.host, hosts);
    const origin = validateOriginHeader(headers.origin, hosts);
    if (host.ok && origin.ok) return;
    throw new AppError("FORBIDDEN", "this host name or origin is not allowed", {
      hint: "The operator names it in ALLOWED_HOSTS.",
    });
  };
}
