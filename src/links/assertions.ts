import { z } from "zod";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import type { LinkService } from "./service.ts";

const MOST_IDENTITIES = 10;
const ASSERTED = { proof: "assertion", actor: "assertion", reason: null } as const;
/** Only what names its channel: the app that signs need not know which one is the default here. */
const ExternalRef = z
  .string()
  .max(320)
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}:/, "send channel:externalId, e.g. telegram:12345");

/** Body of `POST /v1/links/assertions`: these are one person, says the app that they signed in to. */
export const Assertion = z.strictObject({
  identities: z.array(ExternalRef).min(2).max(MOST_IDENTITIES),
});
export type Assertion = z.output<typeof Assertion>;

interface AssertionDependencies {
  readonly links: LinkService;
  readonly users: UserService;
  readonly orgs: OrgService;
  /** Notes a delivery; false for a repeated one. */
  readonly noteDelivery: (
    scope: { readonly orgId: string },
    deliveryId: string,
    tx: Tx,
  ) => Promise<boolean>;
  readonly transactions: Transactions;
  readonly defaultOrg: string;
}

/** Links that a host app asserts, of people of the default org. Whose assertion it is was proved by its signature. */
export class LinkAssertions {
  readonly #deps: AssertionDependencies;

  constructor(deps: AssertionDependencies) {
    this.#deps = deps;
  }

  /**
   * Makes one person of all these identities: the one that has been known longest. Unknown ones become known, approved. A
   * repeated delivery changes nothing and gets the person as they are now.
   *
   * @throws AppError INVALID_INPUT; CONFLICT where one of them is blocked
   */
  async assert(deliveryId: string, { identities }: Assertion): Promise<{ userId: string }> {
    const { links, orgs, users, transactions, defaultOrg, noteDelivery } = this.#deps;
    // Sorted: of two with the same new people each would wait for the other.
    const refs = [...new Set(identities)].sort();
    if (refs.length < 2) throw new AppError("INVALID_INPUT", "identities: there is only one");
    const org = await transactions.system("webhook routing", (tx) => orgs.find(defaultOrg, tx));
    const scope = { orgId: org.id };
    return transactions.tenant(scope, async (tx) => {
      const isFresh = await noteDelivery(scope, deliveryId, tx);
      for (const ref of refs) await users.makeKnown(scope, ref, tx);
      const people = new Set<string>();
      for (const ref of refs) people.add((await users.find(scope, ref, tx)).userId);
      if (isFresh) return { userId: await links.unite(scope, [...people], ASSERTED, tx) };
      const [first] = people;
      if (!first) throw new Error("there is nobody");
      return { userId: first };
    });
  }
}
