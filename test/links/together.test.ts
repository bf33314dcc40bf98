import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { links, memoryOf, remembers, saysOnTelegram, saysOnWeb, undo } from "./people.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  let number = 500;
  beforeAll(async () => {
    const env = { TELEGRAM_AUTO_APPROVE: "true" };
    app = await openApp(engine, { clock: clock.now, env, background: false });
  });
  afterAll(() => app.dispose());

  const two = async () => {
    number++;
    const people = { telegram: `telegram:${number}`, web: `web:${number}`, person: number };
    await saysOnTelegram(app, number, "hello");
    await remembers(app, people.telegram, "drink", "tea");
    await remembers(app, people.web, "drink", "coffee");
    return people;
  };
  const link = (to: string, other: string) =>
    app.v1("POST", `/v1/users/${to}/links`, { with: other, reason: "x" });

  /** What is with another person than the one whose identity it came by. */
  const astray = () =>
    app.database.transactions.system("operator", (tx) =>
      tx.execute(sql`
        select 1 from chat_messages m join channel_identities i on i.id = m.identity_id where i.user_id <> m.user_id
        union all
        select 1 from user_facts f join channel_identities i on i.id = f.identity_id where i.user_id <> f.user_id
        union all
        select 1 from memory_kv k join channel_identities i on i.id = k.identity_id where i.user_id <> k.user_id`),
    );

  test("the same two linked both ways at once are linked once", async () => {
    for (let round = 0; round < 5; round++) {
      const { telegram, web } = await two();
      const answers = await Promise.all([
        link(telegram, web),
        link(web, telegram),
        link(telegram, web),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
      expect(await memoryOf(app, web)).toEqual(await memoryOf(app, telegram));
    }
  });

  test("history that is imported while two are linked, and parted again, is with the person it is of", async () => {
    const { telegram, web, person } = await two();
    const imports = (round: number) =>
      Array.from({ length: 8 }, (_, at) => {
        const id = `export:${person}:${round * 8 + at}`;
        const said = { text: `old ${id}`, sentAt: "2026-03-01T00:00:00Z", conversationId: "old" };
        const sender = { externalId: `${person}` };
        const message = { ...said, sender, platformMessageId: id, forwarded: false, payload: {} };
        return app.v1("POST", "/v1/imports/messages", {
          ...{ channel: "telegram", account: "import" },
          messages: [{ ...message, direction: "inbound", kind: "text" }],
        });
      });
    for (let round = 0; round < 4; round++) {
      const [linkId] = await Promise.all([links(app, web, telegram), ...imports(2 * round)]);
      await Promise.all([undo(app, linkId), ...imports(2 * round + 1)]);
    }
    expect(await astray()).toHaveLength(0);
    expect((await memoryOf(app, telegram)).said).toHaveLength(65);
    expect((await memoryOf(app, web)).said).toEqual([]);
  });

  test("nothing that is written while two are linked, and parted again, is lost or goes to nobody", async () => {
    const { telegram, web, person } = await two();
    const writes = (from: number) =>
      Array.from({ length: 6 }, (_, at) => {
        const n = from + at;
        return [
          saysOnTelegram(app, person, `telegram ${n}`, n),
          saysOnWeb(app, web, `web ${n}`),
          app.ok("update_memory", { userId: telegram, key: `t${n}`, value: n }),
          app.ok("update_memory", { userId: web, key: `w${n}`, value: n }),
          remembers(app, telegram, `t${n}`, n),
          remembers(app, web, `w${n}`, n),
        ];
      }).flat();
    const [linkId] = await Promise.all([links(app, telegram, web), ...writes(0)]);
    await Promise.all([undo(app, linkId), ...writes(6)]);
    const all = (prefix: string) =>
      Array.from({ length: 12 }, (_, n) => `${prefix}${n}`).toSorted();
    const [one, other] = [await memoryOf(app, telegram), await memoryOf(app, web)];
    expect(Object.keys(one.entries).sort()).toEqual(all("t"));
    expect(Object.keys(other.entries).sort()).toEqual(all("w"));
    const keys = (facts: readonly string[]) => facts.map((fact) => fact.split("=")[0]).sort();
    expect(keys(one.facts)).toEqual(["drink", ...all("t")].sort());
    expect(keys(other.facts)).toEqual(["drink", ...all("w")].sort());
    expect(one.said).toHaveLength(13);
    expect(other.said).toHaveLength(24);
    expect(await astray()).toHaveLength(0);
  });
});
