import { z } from "zod";
import { StoreId } from "../orgs/service.ts";

export const ChannelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, _ and -, at most 63");

export const AccountName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, "letters, digits, _ and -, at most 63");

/** The account that the environment's variables define, of the default org. */
export const MAIN_ACCOUNT = "main";

const Variable = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,99}$/, "the name of a variable: upper-case letters, digits and _");

/** One bot, phone number or host app. Its secrets are stored nowhere: it names the variables that hold them. */
export const NewAccount = z
  .strictObject({
    channel: ChannelName,
    account: AccountName.refine((name) => name !== MAIN_ACCOUNT, {
      message: `${MAIN_ACCOUNT} is defined by the environment`,
    }),
    /** Telegram's secret token, WhatsApp's app secret, the signing secret of any other channel. */
    secretVariable: Variable,
    /** Of Telegram: the bot's token, without which it only receives. */
    tokenVariable: Variable.optional(),
    /** Of WhatsApp: the verify token. */
    verifyVariable: Variable.optional(),
    forwardUrl: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .optional(),
    forwardSecretVariable: Variable.optional(),
    autoApprove: z.boolean().default(false),
    storeId: StoreId.optional(),
  })
  .superRefine((account, context) => {
    const fault = (path: keyof NewAccount, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (account.tokenVariable && account.channel !== "telegram")
      fault("tokenVariable", "only a telegram account sends");
    if (account.verifyVariable && account.channel !== "whatsapp")
      fault("verifyVariable", "only a whatsapp account has a verify token");
    if (account.channel === "whatsapp" && !account.verifyVariable)
      fault("verifyVariable", "a whatsapp account needs one: its webhook cannot be set up without");
    if (Boolean(account.forwardUrl) !== Boolean(account.forwardSecretVariable))
      fault("forwardUrl", "a forward URL and the variable with its secret go together");
  });
export type NewAccount = z.output<typeof NewAccount>;

/** A channel account that may receive messages, with the secret its webhook must show. */
export interface ReceivingAccount {
  readonly account: string;
  readonly orgId: string;
  readonly storeId?: string;
  readonly secret: string;
  /** What WhatsApp shows when its webhook is set up. */
  readonly verifyToken?: string;
  /** People who write for the first time need no approval. */
  readonly autoApprove: boolean;
}

/** A channel account that messages can be sent on. */
export interface SendingAccount {
  readonly channel: string;
  readonly account: string;
  readonly storeId: string | null;
  readonly token: string;
}

/** The agent runtime's webhook. */
export interface Destination {
  readonly url: string;
  readonly secret: string;
  /** Only the server's own environment may name an address of the private network. */
  readonly mayBePrivate: boolean;
}

/** What the environment says of a channel's `main` account. */
export interface MainAccount {
  readonly secret?: string | undefined;
  readonly token?: string | undefined;
  readonly verifyToken?: string | undefined;
  readonly autoApprove?: boolean | undefined;
}
