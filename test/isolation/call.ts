import type { Tx } from "../../src/db/tenant.ts";
import type { SeededOrg } from "./seeded-org.ts";

/** Stands for an error of the database. */
export const REFUSED = Symbol("refused by the database");

interface Org {
  readonly orgId: string;
}
type Run = (theirs: SeededOrg, mine: Org, tx: Tx) => unknown;

/** A repository's method, called by the org `mine` with the ids of another org's rows. */
export interface Call {
  readonly run: Run;
  readonly answer: unknown;
  /** Takes no org by design and belongs into a system transaction; tried in a tenant's, which has to bind it. */
  readonly takesNoOrg?: true;
}

/** The calls of one repository, by its methods. */
export type Calls = Readonly<Record<string, Call>>;

export const nothing = (run: Run): Call => ({ run, answer: undefined });
export const empty = (run: Run): Call => ({ run, answer: [] });
export const refused = (run: Run): Call => ({ run, answer: REFUSED });
export const answers = (answer: unknown, run: Run): Call => ({ run, answer });
export const withoutOrg = (answer: unknown, run: Run): Call => ({ run, answer, takesNoOrg: true });

export const FAR_FUTURE = new Date("9999-01-01T00:00:00Z");

export const personOf = ({ userId, identity }: SeededOrg) => ({ userId, identityId: identity.id });
export const externalOf = ({ externalId }: SeededOrg) => ({ channel: "telegram", externalId });
export const platformOf = ({ account, message }: SeededOrg) => ({
  channel: "telegram",
  account,
  platformMessageId: message.platformMessageId ?? "",
});
