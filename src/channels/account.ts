import { z } from "zod";
import { StoreId } from "../orgs/service.ts";

/** Channels whose webhooks this version takes. */
const CHANNELS = ["telegram"] as const;

export const AccountName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, "letters, digits, _ and -, at most 63");

/** The account that the environment's variables define, of the default org. */
export const MAIN_ACCOUNT = "main";

export const NewAccount = z.strictObject({
  channel: z.enum(CHANNELS),
  account: AccountName.refine((name) => name !== MAIN_ACCOUNT, {
    message: `${MAIN_ACCOUNT} is defined by the environment`,
  }),
  /** The environment variable that holds the webhook's secret. The secret itself is stored nowhere. */
  secretVariable: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,99}$/, "the name of a variable: upper-case letters, digits and _"),
  storeId: StoreId.optional(),
});
export type NewAccount = z.output<typeof NewAccount>;

/** A channel account that may receive messages, with the secret its webhook must show. */
export interface ReceivingAccount {
  readonly account: string;
  readonly orgId: string;
  readonly storeId?: string;
  readonly secret: string;
}
