import type { Principal } from "../../access/principal.ts";
import { narrowed } from "../../facts/reach.ts";
import type { OrgService } from "../../orgs/service.ts";
import type { People } from "../../users/people.ts";
import type { Bind } from "./serve.ts";

/**
 * What a key pins takes the place of what a request names: another person, store or agent than the key's answers as an
 * unknown one, and one that a body leaves out is supplied, as in tools. What a query leaves out is its service's.
 */
export function binding(people: People, orgs: OrgService): Bind {
  const ids = {
    userId: async (by: Principal, named: string) => (await people.find(by, named)).id,
    storeId: async (by: Principal, named: string) => (await orgs.visibleStore(by, named)).id,
    agentId: async (by: Principal, named: string) => narrowed(by, "agentId", named),
  };
  return async (principal, takes, sent, place) => {
    const bound: Record<string, unknown> = { ...sent };
    for (const name of ["userId", "storeId", "agentId"] as const) {
      const pin = principal.pins[name];
      if (pin === undefined || !(name in takes)) continue;
      const named = sent[name];
      if (typeof named === "string" && named !== pin)
        bound[name] = await ids[name](principal, named);
      if (named === undefined && place === "body") bound[name] = pin;
    }
    return bound;
  };
}
