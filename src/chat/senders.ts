import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { LinkService } from "../links/service.ts";
import type { Person } from "../users/person.ts";
import type { UserService } from "../users/service.ts";
import type { Sender } from "./message.ts";
import type { ChannelUpdate } from "./update.ts";

/** Who the people are that channels tell of. */
export class Senders {
  readonly #users: UserService;
  readonly #links: Pick<LinkService, "unite">;

  constructor(users: UserService, links: Pick<LinkService, "unite">) {
    this.#users = users;
    this.#links = links;
  }

  /** The person who wrote, made on first sight. */
  async ensure(update: ChannelUpdate, sender: Sender, tx: Tx): Promise<Person> {
    const { channel } = update;
    const { externalId, phoneNumber, username, firstName } = sender;
    const first = {
      username,
      firstName,
      status: update.autoApprove ? ("approved" as const) : ("pending" as const),
    };
    if (phoneNumber === undefined) {
      return this.#users.ensure(update, { channel, externalId }, first, tx);
    }
    const ref = { channel, externalId, phoneNumber };
    const { person, twin } = await this.#users.ensureWithNumber(update, ref, first, tx);
    return twin === undefined ? person : this.#unite(update, person, [twin], tx);
  }

  /** Somebody has further ids now. Says nothing of people who are not known. */
  async rename(
    update: ChannelUpdate,
    change: { readonly earlier: readonly string[]; readonly ids: readonly string[] },
    tx: Tx,
  ): Promise<void> {
    const renamed = await this.#users.addIds(update, update.channel, change, tx);
    if (renamed) await this.#unite(update, renamed.person, renamed.twins, tx);
  }

  /** People whom the platform says to be one. Where one of them is blocked they stay apart, and the message is kept. */
  async #unite(
    update: ChannelUpdate,
    person: Person,
    twins: readonly string[],
    tx: Tx,
  ): Promise<Person> {
    if (twins.length === 0) return person;
    const act = { proof: "platform", actor: update.channel, reason: null } as const;
    try {
      const userId = await this.#links.unite(update, [person.userId, ...twins], act, tx);
      return { ...person, userId };
    } catch (error) {
      if (error instanceof AppError && error.code === "CONFLICT") return person;
      throw error;
    }
  }
}
