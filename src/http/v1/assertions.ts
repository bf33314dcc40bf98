import { isUtf8 } from "node:buffer";
import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import { parseExactly } from "../../channels/body.ts";
import { verifiedId } from "../../channels/standard-webhooks.ts";
import type { Clock } from "../../clock.ts";
import { AppError } from "../../errors.ts";
import { Assertion, type LinkAssertions } from "../../links/assertions.ts";
import { Unauthorized } from "../authentication.ts";
import { ownHosts } from "../own-hosts.ts";
import { Id } from "./answers.ts";
import { bytesOf, keepBytes } from "./body.ts";
import { parse } from "./parse.ts";
import type { DescribedRoute } from "./route.ts";

const BODY_LIMIT = 16 * 1024;

export interface AssertionOptions {
  readonly assertions: LinkAssertions;
  /** Undefined: nobody may assert anything, and there is nothing at the address. */
  readonly secret: string | undefined;
  /** Throws until the database is there. */
  readonly requireReady: () => void;
  /** Host names beside the loopback ones, without ports. */
  readonly allowedHosts: readonly string[];
  readonly clock: Clock;
}

export const ASSERT_LINKS: DescribedRoute = {
  method: "POST",
  url: "/v1/links/assertions",
  id: "assertLinks",
  section: "People",
  summary: "Assert that identities are one person",
  description:
    "Of the host app, where the person is signed in: by its signature as Standard Webhooks has it, over the body with `LINK_SECRET`, instead of a key.",
  caller: "signer",
  errors: ["CONFLICT"],
  bodyLimit: BODY_LIMIT,
  body: Assertion,
  example: { identities: ["web:visitor-7", "telegram:12345"] },
  answer: z.strictObject({ userId: Id }),
};

/** `POST /v1/links/assertions`: a host app says which identities are one person, by its signature instead of a key. */
export const linkAssertions: FastifyPluginAsync<AssertionOptions> = async (app, options) => {
  const { assertions, secret, requireReady, allowedHosts, clock } = options;
  keepBytes(app);
  app.addHook("onRequest", ownHosts(allowedHosts));
  app.post("/v1/links/assertions", { bodyLimit: BODY_LIMIT }, (request) => {
    if (secret === undefined) throw new AppError("NOT_FOUND", "there is nothing at this address");
    const body = bytesOf(request);
    const id = verifiedId(secret, request.headers, body, clock());
    if (id === undefined)
      throw new Unauthorized("sign the request with LINK_SECRET, as Standard Webhooks has it");
    requireReady();
    const asserted = isUtf8(body) ? parseExactly(body.toString("utf8")) : undefined;
    if (asserted === undefined) throw new AppError("INVALID_INPUT", "the body is not JSON");
    return assertions.assert(id, parse(Assertion, asserted));
  });
};
