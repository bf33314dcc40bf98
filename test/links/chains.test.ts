import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { links, memoryOf, remembers, saysOnWeb, undo } from "./people.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  let number = 0;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, background: false });
  });
  afterAll(() => app.dispose());

  /** Three people who say the same and other things, with a source that was named for each of them. */
  const three = async () => {
    number++;
    const people = ["a", "b", "c"].map((name) => `web:${name}-${number}`);
    for (const [at, userId] of people.entries()) {
      await saysOnWeb(app, userId, `I am ${at}`);
      await app.ok("update_memory", { userId, key: "who", value: at });
      await remembers(app, userId, "town", ["Lyon", "Nice", "Lyon"][at], {
        sourceMessageId: "form",
      });
      await remembers(app, userId, "number", at);
      clock.advance(1000);
    }
    const [a = "", b = "", c = ""] = people;
    return { a, b, c, all: () => Promise.all(people.map((userId) => memoryOf(app, userId))) };
  };

  test.each(["first link first", "last link first"])(
    "of A, linked into B, linked into C, each is what they were after both undoings, %s",
    async (order) => {
      const { a, b, c, all } = await three();
      const before = await all();
      const first = await links(app, b, a);
      const last = await links(app, c, b);
      const [one, two, three_] = await all();
      expect(one).toEqual(three_);
      expect(two).toEqual(three_);
      expect(one?.facts).toEqual([
        "number=0?",
        "number=1?",
        "number=2?",
        "town=Lyon?",
        "town=Nice?",
      ]);
      if (order === "first link first") {
        await undo(app, first);
        const [alone, ...others] = await all();
        expect(alone).toEqual(before[0]);
        expect(others[0]).toEqual(others[1]);
        expect(others[0]?.facts).toEqual(["number=1?", "number=2?", "town=Lyon?", "town=Nice?"]);
        await undo(app, last);
      } else {
        await undo(app, last);
        const [linked, same, alone] = await all();
        expect(alone).toEqual(before[2]);
        expect(linked).toEqual(same);
        expect(linked?.facts).toEqual(["number=0?", "number=1?", "town=Lyon?", "town=Nice?"]);
        await undo(app, first);
      }
      expect(await all()).toEqual(before);
    },
  );

  test("somebody who was parted and linked elsewhere does not come back with a later undo", async () => {
    const { a, b, c } = await three();
    const [idA, , idC] = [await memoryOf(app, a), await memoryOf(app, b), await memoryOf(app, c)];
    const first = await links(app, b, a);
    const last = await links(app, c, b);
    await undo(app, first);
    expect((await memoryOf(app, a)).id).toBe(idA.id);
    const again = await links(app, c, a);
    await undo(app, last);
    expect((await memoryOf(app, a)).id).toBe(idC.id);
    await undo(app, again);
    expect((await memoryOf(app, a)).facts).toEqual(idA.facts);
  });

  test("what was written by id alone stays with whom it was written to, also when that one is linked on", async () => {
    const { a, b, c } = await three();
    const first = await links(app, b, a);
    const { id } = await memoryOf(app, b);
    await app.ok("update_memory", { userId: id, key: "note", value: "of b" });
    await remembers(app, id, "hat", "red");
    const last = await links(app, c, b);
    await undo(app, first);
    expect((await memoryOf(app, a)).entries).not.toHaveProperty("note");
    await undo(app, last);
    expect((await memoryOf(app, b)).entries).toMatchObject({ note: "of b" });
    expect((await memoryOf(app, b)).facts).toContain("hat=red");
    expect((await memoryOf(app, c)).entries).not.toHaveProperty("note");
  });

  test("the journal of a person shows the links of everybody who they are", async () => {
    const { a, b, c } = await three();
    const first = await links(app, b, a);
    const last = await links(app, c, b);
    const listed = async (userId: string) => {
      const { body } = await app.v1("GET", `/v1/links?userId=${userId}`);
      return (body.links as { id: string }[]).map(({ id }) => id);
    };
    expect(await listed(a)).toEqual([last, first]);
    await undo(app, first);
    expect(await listed(c)).toEqual([last, first]);
    expect(await listed(a)).toEqual([first]);
  });
});
