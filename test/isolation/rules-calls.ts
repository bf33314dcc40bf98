import { RulesRepository } from "../../src/rules/repository.ts";
import { answers, type Calls, empty, nothing } from "./call.ts";
import { NOON } from "./seeded-org.ts";

const rules = new RulesRepository();
const stamp = { text: "planted", tokens: 1, createdBy: "x", createdAt: NOON };

/** Of the repository of rules. */
export const RULES_CALLS: Readonly<Record<string, Calls>> = {
  RulesRepository: {
    list: empty(async (a, mine, tx) => {
      const page = { before: undefined, limit: 9 };
      return [
        ...(await rules.list(mine, null, page, tx)),
        ...(await rules.list(mine, a.storeId, page, tx)),
      ];
    }),
    latest: nothing((_, mine, tx) => rules.latest(mine, null, tx)),
    find: empty(async (a, mine, tx) => {
      const { id, version } = a.page.rules;
      const byId = await rules.find(mine, { id }, tx);
      const byNumber = await rules.find(mine, { owner: null, version }, tx);
      return [byId, byNumber].filter((row) => row !== undefined);
    }),
    // A row of its own org, whatever versions the other one has.
    insert: answers(true, async (a, mine, tx) => {
      const row = { ...stamp, storeId: null, version: a.page.rules.version };
      return (await rules.insert(mine, row, tx))?.orgId === mine.orgId;
    }),
  },
};
