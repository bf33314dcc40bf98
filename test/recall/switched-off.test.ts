import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openServices, type Services } from "../facts/services.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;
  beforeAll(async () => {
    opened = await openServices(engine);
  });
  beforeEach(async () => {
    s = await opened.fresh();
  });
  afterAll(() => opened.close());

  describe("memory that is switched off", () => {
    test("leaves the blocks empty and says so, and still takes explicit facts", async () => {
      await s.remember({ key: "a", value: "tea" });
      await s.orgs.changeMemory(s.owner, { enabled: false });
      const off = await s.recall({ query: "tea" });
      expect(off).toMatchObject({ disabled: true, memoryBlock: "", facts: [], messages: [] });
      await s.remember({ key: "b", value: "coffee" });
      await s.orgs.changeMemory(s.owner, { enabled: true });
      expect((await s.recall()).facts).toHaveLength(2);
      expect(await s.recall()).not.toHaveProperty("disabled");
    });

    test("for a share of the people is off for the same people each time", async () => {
      await s.orgs.changeMemory(s.owner, { offShare: 0.5 });
      const arms: boolean[] = [];
      for (let n = 0; n < 40; n++) {
        const userId = `telegram:${600 + n}`;
        await s.remember({ userId, key: "a", value: n });
        const answer = await s.recall({ userId });
        expect(await s.recall({ userId })).toEqual(answer);
        expect(answer.facts).toHaveLength(answer.disabled ? 0 : 1);
        arms.push(answer.disabled === true);
      }
      expect(new Set(arms).size).toBe(2);
    });
  });
});
