import type { IncomingMessage } from "node:http";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { MAIN_ACCOUNT, type ReceivingAccount } from "../channels/account.ts";
import { type Body, EMPTY_BODY, parseExactly, readBody } from "../channels/body.ts";
import { isSecret } from "../channels/secret.ts";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { type ParsedUpdate, parseUpdate, unreadableUpdate } from "./update.ts";

const URL_PATTERN = "/webhooks/telegram/:account?";
const REFUSED = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Telegram honours it, up to an hour; its own second retry would come after 2 s. */
const RETRY_AFTER_SECONDS = "5";

type TelegramAccount = Omit<ReceivingAccount, "secret" | "verifyToken">;

export interface IncomingUpdate {
  readonly account: TelegramAccount;
  readonly receivedAt: Date;
  readonly update: ParsedUpdate;
}

export interface TelegramWebhookOptions {
  readonly accounts: (account: string) => Promise<ReceivingAccount | undefined>;
  /**
   * Resolves once the update is committed, or was before. Rejects only if nothing was stored: Telegram then
   * sends the update again, and nothing else of that chat until it is taken or 24 h old.
   */
  readonly archive: (incoming: IncomingUpdate) => Promise<unknown>;
  readonly clock: Clock;
}

/**
 * `POST /webhooks/telegram/:account`. Another method 405, unknown account 404, missing or wrong secret 401, both before the body is
 * read. After a good secret every body is handed to `archive` and answered 200, also what is no JSON or longer
 * than 4 MiB: a refusal would be repeated for 24 h and block the chat meanwhile. 5xx only if `archive` or
 * `accounts` fails. Never answers with a Bot API method, whose result Telegram would discard.
 */
export const telegramWebhook: FastifyPluginAsync<TelegramWebhookOptions> = async (app, options) => {
  app.addContentTypeParser("*", async (_request: FastifyRequest, payload: IncomingMessage) =>
    readBody(payload),
  );
  app.decorateRequest("telegramAccount");

  app.addHook("onRequest", async (request, reply) => {
    if (request.method !== "POST") return refuseMethod(reply);
    try {
      const { account = MAIN_ACCOUNT } = request.params as { account?: string };
      const found = await options.accounts(account);
      if (!found) return await refuse(reply, 404, "NOT_FOUND", "No such account.");
      const { secret, ...known } = found;
      if (!isSecret(request.headers["x-telegram-bot-api-secret-token"], secret)) {
        return await refuse(reply, 401, "FORBIDDEN", "Wrong or missing secret token.");
      }
      request.setDecorator<TelegramAccount>("telegramAccount", known);
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
    handler: (_request, reply) => refuseMethod(reply),
  });
  app.post(URL_PATTERN, async (request, reply) => {
    const account = request.getDecorator<TelegramAccount>("telegramAccount");
    const receivedAt = options.clock();
    const update = readUpdate((request.body as Body | undefined) ?? EMPTY_BODY, receivedAt);
    const { updateId, updateKind, actions } = update;
    const ids = { account: account.account, updateId, updateKind };
    try {
      await options.archive({ account, receivedAt, update });
    } catch (error) {
      return fail(request, reply, error, ids);
    }
    const [first] = actions;
    if (first?.type === "raw")
      request.log.warn({ ...ids, reason: first.reason }, "telegram update kept raw");
    else request.log.debug(ids, "telegram update archived");
    return {};
  });
};

function readUpdate(body: Body, receivedAt: Date): ParsedUpdate {
  const value = body.isCut ? undefined : parseExactly(body.text);
  return value === undefined ? unreadableUpdate(body, receivedAt) : parseUpdate(value, receivedAt);
}

/** Closing spares us the unread body: on a kept connection a stranger's upload would have to be read and dropped. */
function refuse(reply: FastifyReply, status: number, code: string, message: string) {
  return reply.code(status).header("connection", "close").send({ error: { code, message } });
}

/** For whoever opens the address to see whether it is there. */
function refuseMethod(reply: FastifyReply) {
  reply.header("allow", "POST");
  return refuse(reply, 405, "INVALID_INPUT", "Send a POST.");
}

function fail(request: FastifyRequest, reply: FastifyReply, error: unknown, ids: object = {}) {
  const isDown = error instanceof AppError && error.code === "UNAVAILABLE";
  const code = isDown ? "UNAVAILABLE" : "INTERNAL";
  request.log[isDown ? "warn" : "error"]({ ...ids, err: error }, "telegram update not stored");
  if (isDown) reply.header("retry-after", RETRY_AFTER_SECONDS);
  return reply
    .code(isDown ? 503 : 500)
    .send({ error: { code, message: "Not stored; send it again." } });
}
