import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import {
  AccountName,
  ChannelName,
  MAIN_ACCOUNT,
  type ReceivingAccount,
} from "../../channels/account.ts";
import { parseExactly } from "../../channels/body.ts";
import { verifiedId } from "../../channels/standard-webhooks.ts";
import { isRecord } from "../../chat/payload.ts";
import { type Post, PostBody, type PostedOutcome, postSchema } from "../../chat/posted.ts";
import { keyPoster, type Poster } from "../../chat/poster.ts";
import type { Clock } from "../../clock.ts";
import { AppError } from "../../errors.ts";
import { type Authenticate, requirePrincipal, Unauthorized } from "../authentication.ts";
import { ownHosts } from "../own-hosts.ts";
import { Id } from "./answers.ts";
import { bytesOf, keepBytes } from "./body.ts";
import { parse } from "./parse.ts";
import type { DescribedRoute } from "./route.ts";

const BODY_LIMIT = 1024 * 1024;

/** The same for an account that nobody can sign for, which must not be told from one with another secret. */
const UNSIGNED =
  "sign the request with MESSAGES_SECRET, or with the secret of the account that the address names, as Standard Webhooks " +
  "has it: not older than five minutes, over the bytes that are sent";

const Outcome = z
  .strictObject({
    id: Id.nullable(),
    outcome: z.enum(["archived", "edited", "unchanged", "deleted"]),
  })
  .meta({ id: "PostedOutcome" });

/** Which secret signs; without it the default org's host app. */
const Signer = z.strictObject({
  channel: ChannelName.optional(),
  account: AccountName.default(MAIN_ACCOUNT),
});

export const POST_MESSAGES: DescribedRoute = {
  method: "POST",
  url: "/v1/messages",
  id: "postMessages",
  section: "Chat",
  summary: "Post messages of any channel",
  description:
    "One message, or `messages` (at most 100) that are taken all or none. The same `id` again is the same message: what it says now is an edit. By a key, or signed as Standard Webhooks has it.",
  caller: "member",
  errors: ["FORBIDDEN", "NOT_FOUND", "CONFLICT"],
  bodyLimit: BODY_LIMIT,
  query: Signer,
  body: PostBody,
  example: {
    channel: "web",
    id: "m-1",
    externalUserId: "visitor-7",
    direction: "inbound",
    text: "Do you ship to Lyon?",
    sentAt: "2026-03-01T10:00:00Z",
  },
  answer: z.union([Outcome, z.strictObject({ messages: z.array(Outcome) })]),
};

export interface MessageOptions {
  readonly authenticate: Authenticate;
  /** Whose secret signs posts of an account; undefined: nobody's. */
  readonly signing: (
    channel: string | undefined,
    account: string,
  ) => Promise<ReceivingAccount | undefined>;
  readonly post: (poster: Poster, posts: readonly Post[]) => Promise<PostedOutcome[]>;
  /** Takes messages from a budget. */
  readonly charge: (
    payer: { readonly keyId: string },
    messages: number,
  ) => Promise<{ readonly retryAfterSeconds: number } | undefined>;
  /** Host names beside the loopback ones, without ports. */
  readonly allowedHosts: readonly string[];
  readonly clock: Clock;
}

/** Who may post if the body is what they signed. */
interface Sender {
  readonly poster: Poster;
  readonly payer: { readonly keyId: string };
  /** Undefined for a key, which has proven itself. */
  readonly secret?: string;
}

/**
 * `POST /v1/messages`: messages of any channel, by an API key, or signed as Standard Webhooks has it over the body's own
 * bytes. Without either, and for an account that nobody can sign for, 401 before the body is read.
 */
export const messageRoute: FastifyPluginAsync<MessageOptions> = async (app, options) => {
  const { post, clock } = options;
  const senders = new WeakMap<FastifyRequest, Sender>();
  keepBytes(app);
  app.addHook("onRequest", ownHosts(options.allowedHosts));
  app.addHook("onRequest", async (request, reply) => {
    const sender = await senderOf(request, options);
    senders.set(request, sender);
    await requireBudget(sender, 1, reply);
  });

  app.post("/v1/messages", { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const sender = senders.get(request);
    if (!sender) throw new Error("a request reached its route without a sender");
    const { poster, secret } = sender;
    const bytes = bytesOf(request);
    if (secret !== undefined && !verifiedId(secret, request.headers, bytes, clock())) {
      throw new Unauthorized(UNSIGNED);
    }
    const body = parseExactly(bytes.toString("utf8"));
    if (body === undefined) throw new AppError("INVALID_INPUT", "the body is not JSON");
    const posts = parse(postSchema(body), body);
    await requireBudget(sender, posts.length - 1, reply);
    const outcomes = await post(poster, posts);
    return isRecord(body) && "messages" in body ? { messages: outcomes } : outcomes[0];
  });

  async function requireBudget(
    { payer }: Sender,
    messages: number,
    reply: FastifyReply,
  ): Promise<void> {
    const limited = messages > 0 ? await options.charge(payer, messages) : undefined;
    if (!limited) return;
    reply.header("retry-after", String(Math.ceil(limited.retryAfterSeconds)));
    throw new AppError("RATE_LIMITED", "too many messages");
  }
};

async function senderOf(
  request: FastifyRequest,
  { authenticate, signing }: MessageOptions,
): Promise<Sender> {
  const { authorization, "webhook-signature": signature } = request.headers;
  if (authorization !== undefined || signature === undefined) {
    const principal = await requirePrincipal(authenticate, request);
    return { poster: keyPoster(principal), payer: principal };
  }
  const { channel, account } = parse(Signer, request.query);
  const found = await signing(channel, account);
  if (!found) throw new Unauthorized(UNSIGNED);
  const { orgId, storeId, autoApprove, secret } = found;
  return {
    poster: {
      ...{ orgId, by: "signature", account, autoApprove },
      ...(channel !== undefined && { channel }),
      ...(storeId !== undefined && { storeId }),
    },
    payer: { keyId: `signed ${channel ?? ""}/${account}` },
    secret,
  };
}
