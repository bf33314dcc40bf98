import type { FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";

const READS = ["GET", "HEAD"];

/**
 * Refuses what another site makes a signed-in browser send. Browsers say where a form comes from: `Sec-Fetch-Site` on
 * secure connections, `Origin` on all; no page can change either. What says neither did not come from our pages.
 *
 * @throws AppError FORBIDDEN
 */
export async function sameOrigin({ method, headers }: FastifyRequest): Promise<void> {
  if (READS.includes(method)) return;
  const site = headers["sec-fetch-site"];
  if (site === undefined ? isOwn(headers.origin, headers.host) : site === "same-origin") return;
  throw new AppError("FORBIDDEN", "this form was not sent from a page of this server");
}

function isOwn(origin: string | undefined, host: string | undefined): boolean {
  return (
    origin !== undefined && URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
  );
}
