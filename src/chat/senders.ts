import type { Tx } from "../db/tenant.ts";
import type { Person } from "../users/person.ts";
import type { UserService } from "../users/service.ts";
import type { Sender } from "./message.ts";
import type { ChannelUpdate } from "./update.ts";

/** Who the people are that channels tell of. */
export class Senders {
  readonly #users: UserService;

  constructor(users: UserService) {
    this.#users = users;
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
    const { person } = await this.#users.ensureWithNumber(update, ref, first, tx);
    return person;
  }

  /** Somebody has further ids now. Says nothing of people who are not known. */
  async rename(
    update: ChannelUpdate,
    change: { readonly earlier: readonly string[]; readonly ids: readonly string[] },
    tx: Tx,
  ): Promise<void> {
    await this.#users.addIds(update, update.channel, change, tx);
  }
}
