import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { MAIN_ACCOUNT, type ReceivingAccount } from "../channels/account.ts";
import { type Body, EMPTY_BODY, parseExactly, readBody } from "../channels/body.ts";
import { isSecret } from "../channels/secret.ts";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { type ParsedItem, parseDelivery, unreadableDelivery } from "./delivery.ts";

const URL_PATTERN = "/webhooks/whatsapp/:account?";
const REFUSED = ["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];
const RETRY_AFTER_SECONDS = "5";
/** Meta's is ten digits. */
const MAX_CHALLENGE = 256;

export interface IncomingDelivery {
  readonly account: Omit<ReceivingAccount, "secret" | "verifyToken">;
  readonly receivedAt: Date;
  readonly items: readonly ParsedItem[];
}

export interface WhatsappWebhookOptions {
  readonly accounts: (account: string) => Promise<ReceivingAccount | undefined>;
  /**
   * Resolves once every item is committed, or was before. Rejects only if nothing was stored: Meta then sends the delivery
   * again, for days.
   */
  readonly archive: (incoming: IncomingDelivery) => Promise<unknown>;
  readonly clock: Clock;
}

/**
 * `/webhooks/whatsapp/:account`. `GET` answers the challenge when Meta shows the verify token, else 403. `POST` wants the
 * app secret's signature over the body's own bytes: missing 401 before the body is read, wrong 401 before it is parsed.
 * After a good one every body is handed to `archive` and answered 200, also what is no JSON: a refusal would be
 * repeated for days. 5xx only if `archive` or `accounts` fails. An unknown account is 404.
 */
export const whatsappWebhook: FastifyPluginAsync<WhatsappWebhookOptions> = async (app, options) => {
  app.addContentTypeParser("*", async (_request: FastifyRequest, payload: IncomingMessage) =>
    readBody(payload),
  );
  app.decorateRequest("whatsappAccount");

  app.addHook("onRequest", async (request, reply) => {
    if (REFUSED.includes(request.method)) return;
    try {
      const { account = MAIN_ACCOUNT } = request.params as { account?: string };
      const found = await options.accounts(account);
      if (!found) return await refuse(reply, 404, "NOT_FOUND", "No such account.");
      if (request.method === "POST" && !signatureOf(request)) return await refuseSignature(reply);
      request.setDecorator<ReceivingAccount>("whatsappAccount", found);
      // With a media type Fastify would choose a parser that refuses some bodies, or refuse the type itself.
      delete request.raw.headers["content-type"];
    } catch (error) {
      return fail(request, reply, error);
    }
  });

  app.route({
    method: REFUSED,
    url: URL_PATTERN,
    exposeHeadRoute: false,
    handler: async (_request, reply) => {
      reply.header("allow", "GET, POST");
      return refuse(reply, 405, "INVALID_INPUT", "Send a POST.");
    },
  });

  app.get(URL_PATTERN, { exposeHeadRoute: false }, async (request, reply) => {
    const { verifyToken = "" } = request.getDecorator<ReceivingAccount>("whatsappAccount");
    const query = request.query as Record<string, unknown>;
    const challenge = query["hub.challenge"];
    const isAsked = query["hub.mode"] === "subscribe" && typeof challenge === "string";
    if (!isSecret(query["hub.verify_token"], verifyToken) || !isAsked) {
      return refuse(reply, 403, "FORBIDDEN", "Wrong or missing verify token.");
    }
    // Whoever has the token chooses what is echoed: as text, never as a page.
    reply.type("text/plain; charset=utf-8").header("x-content-type-options", "nosniff");
    return challenge.slice(0, MAX_CHALLENGE);
  });

  app.post(URL_PATTERN, async (request, reply) => {
    const {
      secret,
      verifyToken: _,
      ...account
    } = request.getDecorator<ReceivingAccount>("whatsappAccount");
    const body = (request.body as Body | undefined) ?? EMPTY_BODY;
    // Its signature cannot be checked, and nothing that Meta sends is so long.
    if (body.isCut) return refuse(reply, 413, "LIMIT_EXCEEDED", "A body has at most 4 MiB.");
    const signature = createHmac("sha256", secret).update(body.raw).digest("hex");
    if (!isSecret(signatureOf(request), signature)) return refuseSignature(reply);
    const receivedAt = options.clock();
    const items = readItems(body, receivedAt);
    const ids = { account: account.account, items: items.length };
    try {
      await options.archive({ account, receivedAt, items });
    } catch (error) {
      return fail(request, reply, error, ids);
    }
    const raw = items.filter(({ actions: [first] }) => first?.type === "raw").length;
    if (raw > 0) request.log.warn({ ...ids, raw }, "whatsapp delivery kept raw");
    else request.log.debug(ids, "whatsapp delivery archived");
    return {};
  });
};

function readItems(body: Body, receivedAt: Date): ParsedItem[] {
  const value = parseExactly(body.text);
  return value === undefined
    ? unreadableDelivery(body, receivedAt)
    : parseDelivery(value, receivedAt);
}

/** The hex digits of the header, undefined without. */
function signatureOf(request: FastifyRequest): string | undefined {
  const header = request.headers["x-hub-signature-256"];
  if (typeof header !== "string") return undefined;
  return /^sha256=([0-9a-f]{64})$/i.exec(header)?.[1]?.toLowerCase();
}

/** Closing spares us the unread body: on a kept connection a stranger's upload would have to be read and dropped. */
function refuse(reply: FastifyReply, status: number, code: string, message: string) {
  return reply.code(status).header("connection", "close").send({ error: { code, message } });
}

function refuseSignature(reply: FastifyReply) {
  return refuse(reply, 401, "FORBIDDEN", "Wrong or missing signature.");
}

function fail(request: FastifyRequest, reply: FastifyReply, error: unknown, ids: object = {}) {
  const isDown = error instanceof AppError && error.code === "UNAVAILABLE";
  const code = isDown ? "UNAVAILABLE" : "INTERNAL";
  request.log[isDown ? "warn" : "error"]({ ...ids, err: error }, "whatsapp delivery not stored");
  if (isDown) reply.header("retry-after", RETRY_AFTER_SECONDS);
  return reply
    .code(isDown ? 503 : 500)
    .send({ error: { code, message: "Not stored; send it again." } });
}
