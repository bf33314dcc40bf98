import { type Principal, requireAdmin, requireOperator } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { OrgService } from "../orgs/service.ts";
import { AccountName, MAIN_ACCOUNT, type NewAccount, type ReceivingAccount } from "./account.ts";
import type { ChannelAccount, ChannelRepository } from "./repository.ts";

export interface ChannelDependencies {
  readonly channels: ChannelRepository;
  readonly orgs: OrgService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** The `main` accounts of the default org, by channel, from the environment. */
  readonly mainSecrets: Readonly<Record<string, string | undefined>>;
  readonly defaultOrg: string;
  /** Reads the environment variable that an account names. */
  readonly secretOf: (variable: string) => string | undefined;
}

export interface ListedAccount extends ChannelAccount {
  /** Whether its variable is set where this ran; without its secret the account receives nothing. */
  readonly secretIsSet: boolean;
}

export class ChannelService {
  readonly #deps: ChannelDependencies;

  constructor(deps: ChannelDependencies) {
    this.#deps = deps;
  }

  /** Where a delivery to this account belongs; undefined for an unknown account or one without its secret. */
  async receiving(channel: string, account: string): Promise<ReceivingAccount | undefined> {
    const { channels, orgs, transactions, mainSecrets, defaultOrg, secretOf } = this.#deps;
    if (account === MAIN_ACCOUNT) {
      const secret = mainSecrets[channel];
      if (!secret) return undefined;
      const org = await transactions.system("webhook routing", (tx) => orgs.find(defaultOrg, tx));
      return { account, orgId: org.id, secret };
    }
    if (!AccountName.safeParse(account).success) return undefined;
    const row = await transactions.system("webhook routing", (tx) =>
      channels.findByAccount(channel, account, tx),
    );
    const secret = row && secretOf(row.secretVariable);
    if (!secret) return undefined;
    const store = row.storeId === null ? {} : { storeId: row.storeId };
    return { account, orgId: row.orgId, ...store, secret };
  }

  async list(by: Principal): Promise<ListedAccount[]> {
    const { channels, transactions } = this.#deps;
    requireAdmin(by);
    const rows = await transactions.tenant(by, (tx) => channels.list(by, tx));
    return rows.map((row) => this.#listed(row));
  }

  /**
   * Only the operator: it names a variable of the server's environment, and another org's secret may be in one.
   *
   * @throws AppError FORBIDDEN; CONFLICT when the account is taken; NOT_FOUND for an unknown store
   */
  add(by: Principal, input: NewAccount): Promise<ListedAccount> {
    const { channels, orgs, transactions, clock } = this.#deps;
    requireOperator(by);
    return transactions.tenant(by, async (tx) => {
      const { storeId, ...account } = input;
      const store = storeId === undefined ? undefined : await orgs.findStore(by, storeId, tx);
      const row = await channels.insert(
        by,
        { ...account, storeId: store?.id ?? null, createdAt: clock() },
        tx,
      );
      if (!row) throw new AppError("CONFLICT", "this channel account exists already");
      return this.#listed(row);
    });
  }

  remove(by: Principal, channel: string, account: string): Promise<void> {
    const { channels, transactions } = this.#deps;
    requireAdmin(by);
    return transactions.tenant(by, async (tx) => {
      if (await channels.delete(by, channel, account, tx)) return;
      throw new AppError("NOT_FOUND", "no such channel account");
    });
  }
  #listed(row: ChannelAccount): ListedAccount {
    return { ...row, secretIsSet: Boolean(this.#deps.secretOf(row.secretVariable)) };
  }
}
