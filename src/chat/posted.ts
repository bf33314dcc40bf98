import { z } from "zod";
import { AccountName, ChannelName, MAIN_ACCOUNT } from "../channels/account.ts";
import { Instant } from "../instant.ts";
import { StoreId } from "../orgs/service.ts";
import { UserId } from "../users/person.ts";
import { Direction, MessageKind, storable } from "./message.ts";
import { cleanJson, isRecord } from "./payload.ts";

/** Messages in one call, of one transaction. */
const MAX_BATCH = 100;
/** As long as a turn's. */
const MAX_TEXT = 262_144;
const MAX_ID = 256;
const MAX_PAYLOAD_BYTES = 32 * 1024;

/** The archive takes whatever a text holds: what cannot be stored becomes U+FFFD. */
const Id = z.string().min(1).max(MAX_ID).transform(storable);
const Name = z.string().min(1).max(MAX_ID).transform(storable);

const Payload = z
  .record(z.string(), z.unknown())
  .transform((payload) => cleanJson(payload) as Readonly<Record<string, unknown>>)
  .refine((payload) => Buffer.byteLength(JSON.stringify(payload)) <= MAX_PAYLOAD_BYTES, {
    message: `has at most ${MAX_PAYLOAD_BYTES} bytes as JSON`,
  });

const Place = {
  channel: ChannelName,
  account: AccountName.default(MAIN_ACCOUNT),
  /** What the channel calls the message. The same id again is the same message. */
  id: Id,
};

/** A message as a host app or a channel without an adapter of its own posts it. */
const PostedMessage = z
  .strictObject({
    ...Place,
    deleted: z.literal(false).default(false),
    /** The person by the channel's own id for them. */
    externalUserId: z.string().max(1024).optional(),
    /** The same by an internal id or `channel:externalId`. */
    userId: UserId.optional(),
    username: Name.optional(),
    firstName: Name.optional(),
    conversationId: Id.optional(),
    direction: Direction,
    kind: MessageKind.default("text"),
    text: z.string().max(MAX_TEXT).transform(storable).optional(),
    sentAt: Instant,
    editedAt: Instant.optional(),
    forwarded: z.boolean().default(false),
    payload: Payload.optional(),
    storeId: StoreId.optional(),
    /** Whether the agent runtime is told of it. */
    forward: z.boolean().default(true),
  })
  .refine(({ kind, text }) => kind !== "text" || (text !== undefined && text !== ""), {
    path: ["text"],
    message: "a message of the kind text has one",
  });
export type PostedMessage = z.output<typeof PostedMessage>;

/** A message that the channel's side deleted. */
const PostedDeletion = z.strictObject({ ...Place, deleted: z.literal(true) });

const Post = z.discriminatedUnion("deleted", [PostedMessage, PostedDeletion]);
export type Post = z.output<typeof Post>;

const One = Post.transform((post) => [post]);
const Batch = z
  .strictObject({ messages: z.array(Post).min(1).max(MAX_BATCH) })
  .transform(({ messages }) => messages);

/** What a body of `POST /v1/messages` may be. */
export const PostBody = z.union([
  Post,
  z.strictObject({ messages: z.array(Post).min(1).max(MAX_BATCH) }),
]);

/** The schema of a body of `POST /v1/messages`: one message, or `messages` that are taken all or none. */
export function postSchema(body: unknown): z.ZodType<Post[]> {
  return isRecord(body) && "messages" in body ? Batch : One;
}

export interface PostedOutcome {
  /** The archived message's id; null once it is erased. */
  readonly id: string | null;
  readonly outcome: "archived" | "edited" | "unchanged" | "deleted";
}

/** What is noted of a deletion, so that the message stays away when it comes again. */
export function noteOfDeletion({
  channel,
  account,
  id,
}: {
  readonly channel: string;
  readonly account: string;
  readonly id: string;
}) {
  return { channel, account, updateId: `deleted ${id}` };
}
