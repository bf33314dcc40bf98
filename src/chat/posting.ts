import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { type OrgService, unknownStore } from "../orgs/service.ts";
import type { SearchIndex } from "../search/service.ts";
import { externalRef, type Person } from "../users/person.ts";
import { type UserService, unknownPerson } from "../users/service.ts";
import type { Intake } from "./intake.ts";
import type { ChannelMessage } from "./message.ts";
import type { PlatformMessageRepository } from "./platform-repository.ts";
import { noteOfDeletion, type Post, type PostedMessage, type PostedOutcome } from "./posted.ts";
import { type Poster, requireMayPost } from "./poster.ts";
import type { ChatRepository } from "./repository.ts";
import type { ChannelUpdate } from "./update.ts";

export interface PostingDependencies {
  readonly chat: ChatRepository;
  readonly platform: PlatformMessageRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly index: SearchIndex;
  readonly transactions: Transactions;
}

const DELETED: PostedOutcome = { id: null, outcome: "deleted" };

/** Whose a message is, and what its channel calls them. */
interface Author {
  readonly person: Person;
  readonly externalId: string | undefined;
}

/** Takes in messages that a program posts, by the same rules as those that a webhook delivers. */
export class Posting {
  readonly #deps: PostingDependencies;
  readonly #intake: Intake;

  constructor(deps: PostingDependencies, intake: Intake) {
    this.#deps = deps;
    this.#intake = intake;
  }

  /**
   * Takes posts in order, all or none. A message that was posted before is edited where it says something else.
   *
   * @throws AppError NOT_FOUND for people and stores that are unknown or beyond the poster's pins; CONFLICT for an id that
   * another person's message has; FORBIDDEN
   */
  take(poster: Poster, posts: readonly Post[], now: Date): Promise<PostedOutcome[]> {
    const { index, transactions } = this.#deps;
    for (const post of posts) requireMayPost(poster, post);
    return transactions.tenant(poster, async (tx) => {
      // In one order, so that two posters with the same people never wait for each other.
      const people: string[] = [];
      for (const post of inOrder(posts)) {
        people.push((await this.#author(poster, post, tx)).person.userId);
      }
      await index.holdPeople(poster, people, tx);
      const outcomes: PostedOutcome[] = [];
      for (const post of posts) {
        const outcome = post.deleted
          ? await this.#erase(poster, post, now, tx)
          : await this.#archive(poster, post, now, tx);
        outcomes.push(outcome);
      }
      return outcomes;
    });
  }

  async #author(poster: Poster, post: PostedMessage, tx: Tx): Promise<Author> {
    const { users } = this.#deps;
    const { channel, externalUserId } = post;
    const ref = externalUserId === undefined ? undefined : externalRef(channel, externalUserId);
    const userId = ref ? `${channel}:${ref.externalId}` : (post.userId ?? poster.userId ?? "");
    if (poster.userId !== undefined) {
      const named = await users.find(poster, userId, tx);
      if (named.userId !== poster.userId) throw unknownPerson();
    }
    const person = ref ? undefined : await users.findOrCreate(poster, userId, tx);
    const externalId =
      ref?.externalId ?? (person && (await users.onlyIdOn(poster, person.userId, channel, tx)));
    if (externalId === undefined) {
      if (!person) throw new Error("somebody without any id");
      return { person, externalId };
    }
    const { username, firstName } = post;
    const status = poster.autoApprove ? ("approved" as const) : ("pending" as const);
    const first = { username, firstName, status };
    return { person: await users.ensure(poster, { channel, externalId }, first, tx), externalId };
  }

  async #archive(poster: Poster, post: PostedMessage, now: Date, tx: Tx): Promise<PostedOutcome> {
    // Asked again: a one-time code in an earlier post may have made two people one.
    const author = await this.#author(poster, post, tx);
    const update = await this.#update(poster, post, now, tx);
    const [known] = await this.#deps.platform.find(poster, post, [post.id], tx);
    if (known) {
      const isTheirs = known.userId === author.person.userId;
      if (!isTheirs || !isOfStore(poster, known)) throw taken(post);
    }
    const message = toMessage(post, author, now);
    const edited = await this.#intake.edit(update, message, tx);
    if (edited) return edited;
    // Posted once more, or overtaken by its deletion.
    if (await this.#deps.chat.isNoted(poster, noteOfDeletion(post), tx)) return DELETED;
    const id = await this.#intake.archive(update, message, author.person, tx);
    // Another person's message took the id at this very moment.
    if (id === undefined) throw taken(post);
    return { id, outcome: "archived" };
  }

  /** What a poster may not reach is, to them, not there; and what is not there is deleted. */
  async #erase(poster: Poster, post: Post, now: Date, tx: Tx): Promise<PostedOutcome> {
    const [known] = await this.#deps.platform.find(poster, post, [post.id], tx);
    const { userId = known?.userId } = poster;
    const isTheirs = known && known.userId === userId && isOfStore(poster, known);
    const mayBeTheirs = !known && poster.userId === undefined && poster.storeId === undefined;
    if (isTheirs || mayBeTheirs) {
      const note = { ...noteOfDeletion(post), receivedAt: now };
      await this.#deps.chat.noteUpdate(poster, note, tx);
    }
    if (isTheirs) {
      const update = await this.#update(poster, post, now, tx);
      await this.#intake.erase(update, [post.id], tx);
    }
    return DELETED;
  }

  /** As if a webhook had delivered it. */
  async #update(poster: Poster, post: Post, receivedAt: Date, tx: Tx): Promise<ChannelUpdate> {
    const { orgId, autoApprove } = poster;
    const { channel, account, id, deleted } = post;
    const storeId = await this.#storeId(poster, deleted ? undefined : post.storeId, tx);
    return {
      ...{ orgId, channel, account, receivedAt, autoApprove },
      ...(storeId !== undefined && { storeId }),
      forward: deleted || post.forward,
      // The message's id tells a repetition; of the delivery nothing is noted.
      dedupeKey: id,
      actions: [],
    };
  }

  async #storeId(poster: Poster, named: string | undefined, tx: Tx): Promise<string | undefined> {
    const { storeId: pinned } = poster;
    if (named === undefined) return pinned;
    const { id } = await this.#deps.orgs.findStore(poster, named, tx);
    if (pinned !== undefined && pinned !== id) throw unknownStore();
    return id;
  }
}

function inOrder(posts: readonly Post[]): PostedMessage[] {
  const nameOf = ({ externalUserId, userId = "" }: PostedMessage) => externalUserId ?? userId;
  return posts.filter((post) => !post.deleted).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function isOfStore(poster: Poster, { storeId }: { readonly storeId: string | null }): boolean {
  return poster.storeId === undefined || poster.storeId === storeId;
}

/** A clock of a host app may run ahead; a date of the future would stand before what is said until then. */
function toMessage(post: PostedMessage, { person, externalId }: Author, now: Date): ChannelMessage {
  const { direction, kind, text, sentAt, editedAt, forwarded, payload = {} } = post;
  const notAfterNow = (date: Date) => (date <= now ? date : now);
  return {
    ...{ direction, kind, forwarded, payload },
    text: text || null,
    sentAt: notAfterNow(sentAt),
    ...(editedAt && { editedAt: notAfterNow(editedAt) }),
    conversationId: post.conversationId ?? externalId ?? person.userId,
    platformMessageId: post.id,
    ...(externalId !== undefined && { sender: { externalId } }),
  };
}

function taken({ id }: Post): AppError {
  return new AppError("CONFLICT", `id: ${JSON.stringify(id)} is another person's message`, {
    hint: "Ids are unique within a channel account.",
  });
}
