import type { IncomingHttpHeaders } from "node:http";
import type { FastifyPluginAsync } from "fastify";
import { verifiedId } from "../../channels/standard-webhooks.ts";
import type { Clock } from "../../clock.ts";
import { AppError } from "../../errors.ts";
import { Assertion, type LinkAssertions } from "../../links/assertions.ts";
import { Unauthorized } from "../authentication.ts";
import { parse } from "./parse.ts";

const BODY_LIMIT = 16 * 1024;

export interface AssertionOptions {
  readonly assertions: LinkAssertions;
  /** Undefined: nobody may assert anything, and there is nothing at the address. */
  readonly secret: string | undefined;
  /** Throws until the database is there. */
  readonly requireReady: () => void;
  readonly clock: Clock;
}

/** `POST /v1/links/assertions`: a host app says which identities are one person, by its signature instead of a key. */
export const linkAssertions: FastifyPluginAsync<AssertionOptions> = async (app, options) => {
  const { assertions, secret, requireReady, clock } = options;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  app.post("/v1/links/assertions", { bodyLimit: BODY_LIMIT }, (request) => {
    if (secret === undefined) throw new AppError("NOT_FOUND", "there is nothing at this address");
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const id = verifiedId(secret, signatureOf(request.headers), body, clock());
    if (id === undefined)
      throw new Unauthorized("sign the request with LINK_SECRET, as Standard Webhooks has it");
    requireReady();
    return assertions.assert(id, parse(Assertion, readJson(body)));
  });
};

function signatureOf(headers: IncomingHttpHeaders) {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = headers;
  return { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature };
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw notJson(error);
  }
}

function notJson(cause: unknown): AppError {
  return new AppError("INVALID_INPUT", "the body is not JSON", { cause });
}
