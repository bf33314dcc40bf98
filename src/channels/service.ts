import { type Principal, requireAdmin, requireOperator } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { OrgService } from "../orgs/service.ts";
import {
  AccountName,
  type Destination,
  MAIN_ACCOUNT,
  type MainAccount,
  type NewAccount,
  type ReceivingAccount,
  type SendingAccount,
} from "./account.ts";
import type { ChannelAccount, ChannelRepository } from "./repository.ts";
import { isSigningSecret } from "./standard-webhooks.ts";

export interface ChannelDependencies {
  readonly channels: ChannelRepository;
  readonly orgs: OrgService;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** The `main` accounts of the default org, by channel, from the environment. */
  readonly main: Readonly<Record<string, MainAccount>>;
  /** Signs what host apps post for the default org. */
  readonly messagesSecret: string | undefined;
  /** Where messages of the default org go, but for accounts with a URL of their own. */
  readonly agentWebhook: Destination | undefined;
  readonly defaultOrg: string;
  /** Reads the environment variable that an account names. */
  readonly secretOf: (variable: string) => string | undefined;
}

export interface ListedAccount extends ChannelAccount {
  /** Whether its webhook's secret is set where this ran; without it the account receives nothing. */
  readonly secretIsSet: boolean;
  /** The variables it names that are not set where this ran. */
  readonly unsetVariables: readonly string[];
}

export class ChannelService {
  readonly #deps: ChannelDependencies;

  constructor(deps: ChannelDependencies) {
    this.#deps = deps;
  }

  /** Where a delivery to this account belongs; undefined for an unknown account or one without its secret. */
  async receiving(channel: string, account: string): Promise<ReceivingAccount | undefined> {
    const { channels, orgs, transactions, main, defaultOrg, secretOf } = this.#deps;
    if (account === MAIN_ACCOUNT) {
      const { secret, verifyToken, autoApprove = false } = main[channel] ?? {};
      if (!secret) return undefined;
      const org = await transactions.system("webhook routing", (tx) => orgs.find(defaultOrg, tx));
      return { account, orgId: org.id, secret, autoApprove, ...(verifyToken && { verifyToken }) };
    }
    if (!AccountName.safeParse(account).success) return undefined;
    const row = await transactions.system("webhook routing", (tx) =>
      channels.findByAccount(channel, account, tx),
    );
    const secret = row && secretOf(row.secretVariable);
    if (!secret) return undefined;
    const verifyToken = row.verifyVariable === null ? undefined : secretOf(row.verifyVariable);
    return {
      account,
      orgId: row.orgId,
      ...(row.storeId !== null && { storeId: row.storeId }),
      secret,
      ...(verifyToken && { verifyToken }),
      autoApprove: row.autoApprove || (main[channel]?.autoApprove ?? false),
    };
  }

  /**
   * Who signs posts: an account of a channel without a webhook of its own, or the default org's host app. undefined where
   * nobody can.
   */
  async signing(
    channel: string | undefined,
    account: string,
  ): Promise<ReceivingAccount | undefined> {
    const { orgs, transactions, messagesSecret: secret, defaultOrg } = this.#deps;
    if (account === MAIN_ACCOUNT) {
      if (!secret) return undefined;
      const org = await transactions.system("webhook routing", (tx) => orgs.find(defaultOrg, tx));
      return { account, orgId: org.id, secret, autoApprove: true };
    }
    if (channel === undefined) return undefined;
    const found = await this.receiving(channel, account);
    return found && isSigningSecret(found.secret) ? found : undefined;
  }

  /** Whether any account of any org can send. */
  async canSend(): Promise<boolean> {
    const { channels, transactions, main, secretOf } = this.#deps;
    if (Object.values(main).some(({ token }) => token)) return true;
    const variables = await transactions.system("webhook routing", (tx) =>
      channels.tokenVariables(tx),
    );
    return variables.some((variable) => secretOf(variable));
  }

  /** The accounts of the org that can send, those of the environment first. */
  async sending(scope: { readonly orgId: string }, tx: Tx): Promise<SendingAccount[]> {
    const { channels, orgs, main, defaultOrg, secretOf } = this.#deps;
    const isDefault = await orgs.isNamed(scope, defaultOrg, tx);
    const own = Object.entries(isDefault ? main : {}).flatMap(([channel, { token }]) =>
      token ? [{ channel, account: MAIN_ACCOUNT, storeId: null, token }] : [],
    );
    const rows = await channels.list(scope, tx);
    const others = rows.flatMap(({ channel, account, storeId, tokenVariable }) => {
      const token = tokenVariable === null ? undefined : secretOf(tokenVariable);
      return token ? [{ channel, account, storeId, token }] : [];
    });
    return [...own, ...others];
  }

  /** Where messages of an account are forwarded; undefined: nowhere, as for an account whose secret is not set. */
  async destination(
    scope: { readonly orgId: string },
    { channel, account }: { readonly channel: string; readonly account: string },
    tx: Tx,
  ): Promise<Destination | undefined> {
    const { channels, orgs, agentWebhook, defaultOrg, secretOf } = this.#deps;
    const row =
      account === MAIN_ACCOUNT ? undefined : await channels.find(scope, channel, account, tx);
    if (row?.forwardUrl && row.forwardSecretVariable) {
      const secret = secretOf(row.forwardSecretVariable);
      return secret ? { url: row.forwardUrl, secret, mayBePrivate: false } : undefined;
    }
    // Another org's messages are not for the runtime of this one.
    return agentWebhook && (await orgs.isNamed(scope, defaultOrg, tx)) ? agentWebhook : undefined;
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
      await this.#record(by, "channel.added", input, tx);
      return this.#listed(row);
    });
  }

  remove(by: Principal, channel: string, account: string): Promise<void> {
    const { channels, transactions } = this.#deps;
    requireAdmin(by);
    return transactions.tenant(by, async (tx) => {
      if (!(await channels.delete(by, channel, account, tx))) {
        throw new AppError("NOT_FOUND", "no such channel account");
      }
      await this.#record(by, "channel.removed", { channel, account }, tx);
    });
  }

  #record(
    by: Principal,
    action: string,
    { channel, account }: { readonly channel: string; readonly account: string },
    tx: Tx,
  ): Promise<void> {
    const subject = { subjectKind: "channel", subjectId: `${channel}:${account}` } as const;
    return this.#deps.audit.record(by, { actor: by.keyId, action, ...subject, reason: null }, tx);
  }

  #listed(row: ChannelAccount): ListedAccount {
    const { secretOf } = this.#deps;
    const named = [
      row.secretVariable,
      row.tokenVariable,
      row.verifyVariable,
      row.forwardSecretVariable,
    ];
    return {
      ...row,
      secretIsSet: Boolean(secretOf(row.secretVariable)),
      unsetVariables: named.flatMap((name) => (name === null || secretOf(name) ? [] : [name])),
    };
  }
}
