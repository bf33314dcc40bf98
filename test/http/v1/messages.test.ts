import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApp, type TestApp } from "../../support/app.ts";
import { TestClock } from "../../support/clock.ts";
import { onBothDatabases } from "../../support/database.ts";
import { hello, MESSAGES_SECRET, poster, secretOfLetter } from "./posting.ts";

interface Shown {
  readonly id: string;
  readonly text: string | null;
  readonly kind: string;
  readonly direction: string;
  readonly edited: boolean;
  readonly sentAt: string;
}

onBothDatabases((engine) => {
  const clock = new TestClock("2026-03-01T10:00:10.000Z");
  let app: TestApp;
  let post: ReturnType<typeof poster>;
  beforeAll(async () => {
    app = await openApp(engine, {
      clock: clock.now,
      env: {
        MESSAGES_SECRET,
        // Nothing is sent there: no job runs here.
        AGENT_WEBHOOK_URL: "http://127.0.0.1:9/agent",
        AGENT_WEBHOOK_SECRET: secretOfLetter("a"),
      },
      background: false,
    });
    post = poster(app, clock.now);
  });
  afterAll(() => app.dispose());

  const history = async (userId: string, key?: string) =>
    (await app.ok("get_chat_history", { userId }, key)).messages as Shown[];
  const person = async (userId: string) =>
    (await app.ok("get_user_context", { userId })).user as Record<string, unknown>;
  const rows = <Row extends Record<string, unknown>>(query: ReturnType<typeof sql>) =>
    app.database.transactions.system("operator", (tx) => tx.execute<Row>(query));

  describe.each(["keyed", "signed"] as const)("a %s post", (how) => {
    const send = (body: object) => post[how](body);
    const visitor = (name: string) => `${how}-${name}`;

    test("is archived in both directions, of a person who is approved", async () => {
      const externalUserId = visitor("ana");
      const names = { username: "ana", firstName: "Ana" };
      const asked = await send(hello({ externalUserId, ...names, text: "do you ship to Lyon?" }));
      expect(asked).toMatchObject({ status: 200, body: { outcome: "archived" } });
      const said = { direction: "outbound", text: "we do", sentAt: "2026-03-01T10:00:05Z" };
      await send(hello({ externalUserId, ...said }));
      const shown = await history(`web:${externalUserId}`);
      expect(shown).toMatchObject([
        { id: asked.body.id, text: "do you ship to Lyon?", direction: "inbound", kind: "text" },
        { text: "we do", direction: "outbound", sentAt: "2026-03-01T10:00:05.000Z" },
      ]);
      expect(await person(`web:${externalUserId}`)).toMatchObject({ status: "approved", ...names });
    });

    test("again is unchanged, with the same id; another text is an edit that keeps the earlier one", async () => {
      const first = hello({ externalUserId: visitor("ben"), text: "I like tea" });
      const { body } = await send(first);
      expect((await send(first)).body).toEqual({ id: body.id, outcome: "unchanged" });
      const at = (seconds: number) => `2026-03-01T10:00:0${seconds}Z`;
      const edit = { ...first, text: "I like coffee", editedAt: at(5) };
      expect((await send(edit)).body).toEqual({ id: body.id, outcome: "edited" });
      expect((await send(edit)).body).toEqual({ id: body.id, outcome: "unchanged" });
      const late = { ...first, text: "I like milk", editedAt: at(3) };
      expect((await send(late)).body).toEqual({ id: body.id, outcome: "unchanged" });
      expect(await history(`web:${visitor("ben")}`)).toMatchObject([
        { text: "I like coffee", edited: true },
      ]);
      const kept = await rows(
        sql`select text from chat_message_revisions where message_id = ${body.id}`,
      );
      expect(kept).toEqual([{ text: "I like tea" }]);
    });

    test.each([[{ kind: "photo" }], [{ payload: { fileId: "2" } }]])(
      "with %j instead is an edit too",
      async (change) => {
        const first = hello({ externalUserId: visitor("cleo"), payload: { fileId: "1" } });
        await send(first);
        expect((await send({ ...first, ...change })).body.outcome).toBe("edited");
        expect((await send({ ...first, ...change })).body.outcome).toBe("unchanged");
      },
    );

    test("of a deletion erases the message, once and for ever", async () => {
      const first = hello({ externalUserId: visitor("dora"), text: "my secret" });
      await send(first);
      const deletion = { channel: "web", id: first.id, deleted: true };
      for (let time = 0; time < 2; time++) {
        expect((await send(deletion)).body).toEqual({ id: null, outcome: "deleted" });
      }
      // A recording of the first post, played again.
      expect((await send(first)).body).toEqual({ id: null, outcome: "deleted" });
      expect(await history(`web:${visitor("dora")}`)).toEqual([]);
    });

    test("of several is answered in order", async () => {
      const of = { externalUserId: visitor("eve") };
      const [one, two] = [hello({ ...of, text: "one" }), hello({ ...of, text: "two" })];
      const edit = { ...one, text: "1" };
      const deletion = { channel: "web", id: two.id, deleted: true };
      const { body } = await send({ messages: [one, two, one, edit, deletion] });
      const outcomes = (body.messages as { outcome: string }[]).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(["archived", "archived", "unchanged", "edited", "deleted"]);
      expect(await history(`web:${visitor("eve")}`)).toMatchObject([{ text: "1" }]);
    });

    test("of several of which one is not taken is not taken at all", async () => {
      const of = { externalUserId: visitor("fay") };
      const one = hello(of);
      for (const bad of [
        hello({ ...of, channel: "Carrier Pigeon" }),
        { ...one, externalUserId: visitor("gus") },
        hello({ ...of, storeId: "nowhere" }),
      ]) {
        expect((await send({ messages: [one, bad] })).status).toBeGreaterThanOrEqual(400);
      }
      expect(
        (await app.call("get_chat_history", { userId: `web:${of.externalUserId}` })).error,
      ).toBeDefined();
    });
  });

  test("an answer closes the turn of what was asked", async () => {
    const of = { externalUserId: "turner" };
    await post.keyed(hello({ ...of, text: "what is my size?" }));
    const stateOf = async () => {
      const { id } = await person("web:turner");
      return (await rows(sql`select state from turns where user_id = ${id}`)).map(
        (row) => row.state,
      );
    };
    expect(await stateOf()).toEqual(["open"]);
    const answer = { direction: "outbound", text: "42", sentAt: "2026-03-01T10:00:02Z" };
    await post.keyed(hello({ ...of, ...answer }));
    expect(await stateOf()).toEqual(["closed"]);
  });

  test("what was posted is forwarded like what a webhook delivers, unless the poster says not to", async () => {
    const of = { externalUserId: "sam" };
    const loud = hello(of);
    const quiet = hello({ ...of, forward: false });
    await post.keyed({ messages: [loud, quiet, hello({ ...of, direction: "outbound" })] });
    await post.keyed({ messages: [loud, quiet].map((one) => ({ ...one, text: "edited" })) });
    await post.keyed({ channel: "web", id: loud.id, deleted: true });
    const { id } = await person("web:sam");
    const events = await rows(
      sql`select event from forward_deliveries where user_id = ${id} order by position`,
    );
    const told = events.map(({ event }) => event);
    expect(told).toEqual(["message.received", "message.edited", "message.deleted"]);
  });

  test("a person is named by an internal id or on another channel too, and stays one conversation", async () => {
    await post.keyed(hello({ externalUserId: "holly" }));
    const { id } = await person("web:holly");
    await post.keyed(hello({ externalUserId: undefined, userId: id }));
    await post.keyed(hello({ externalUserId: undefined, userId: "web:holly" }));
    const said = await rows(
      sql`select distinct conversation_id, identity_id is null as of_none from chat_messages where user_id = ${id}`,
    );
    expect(said).toEqual([{ conversation_id: "holly", of_none: false }]);
    await app.ok("update_memory", { userId: "telegram:900", key: "k", value: 1 });
    await post.keyed(hello({ externalUserId: undefined, userId: "telegram:900", text: "by web" }));
    expect(await history("telegram:900")).toMatchObject([{ text: "by web" }]);
    expect((await post.keyed(hello({ externalUserId: undefined }))).status).toBe(400);
    expect((await post.keyed(hello({ userId: id }))).status).toBe(400);
    const nobody = "01900000-0000-7000-8000-000000000000";
    expect((await post.keyed(hello({ externalUserId: undefined, userId: nobody }))).status).toBe(
      404,
    );
  });

  test("a one-time code in a post links its sender, and what follows is the linked person's", async () => {
    await app.ok("update_memory", { userId: "telegram:901", key: "size", value: 42 });
    const { code } = await app.ok("link_identity", { userId: "telegram:901" });
    const of = { externalUserId: "quinn" };
    const messages = [hello(of), hello({ ...of, text: code }), hello({ ...of, text: "it is me" })];
    expect((await post.signed({ messages })).status).toBe(200);
    expect((await history("telegram:901")).map(({ text }) => text)).toEqual([
      "hello",
      code,
      "it is me",
    ]);
    const { memory } = await app.ok("get_user_context", { userId: "web:quinn" });
    expect(memory).toEqual({ size: 42 });
  });

  test("the same message id on another channel or account is another message", async () => {
    const twin = hello({ id: "twin", externalUserId: "ivy" });
    for (const place of [{}, { account: "second" }, { channel: "sms" }]) {
      expect((await post.keyed({ ...twin, ...place })).body.outcome).toBe("archived");
    }
    await post.keyed({ channel: "web", account: "second", id: "twin", deleted: true });
    expect(await history("web:ivy")).toHaveLength(1);
    expect(await history("sms:ivy")).toHaveLength(1);
  });

  test("an id that is another person's message is a conflict, and changes nothing", async () => {
    const first = hello({ externalUserId: "jack", text: "mine" });
    await post.keyed(first);
    const answer = await post.keyed({ ...first, externalUserId: "kate", text: "not yours" });
    expect(answer).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect(await history("web:jack")).toMatchObject([{ text: "mine" }]);
  });

  test("posts of one message that arrive at once make one", async () => {
    const first = hello({ externalUserId: "lea" });
    const answers = await Promise.all([1, 2, 3, 4].map(() => post.signed(first)));
    const outcomes = answers.map(({ body }) => body.outcome).sort();
    expect(outcomes).toEqual(["archived", "unchanged", "unchanged", "unchanged"]);
    const [a, b] = [hello({ externalUserId: "mia" }), hello({ externalUserId: "noa" })];
    const both = [
      [a, b],
      [b, a],
      [a, b],
      [b, a],
    ];
    const all = await Promise.all(both.map((messages) => post.keyed({ messages })));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await history("web:mia")).toHaveLength(1);
  });

  test("what a text holds never blocks it; what names people and channels has to be clean", async () => {
    const odd = {
      externalUserId: "olga",
      id: "x\0",
      text: "a\0b\ud83dc",
      conversationId: "c\ud83d",
    };
    const payload = { "k\0": "\ud83d", ["__proto__"]: 1, big: [1, { deep: "\0" }] };
    const { status } = await post.signed(hello({ ...odd, payload, username: "o\0" }));
    expect(status).toBe(200);
    expect(await history("web:olga")).toMatchObject([{ text: "a\uFFFDb\uFFFDc" }]);
    for (const externalUserId of ["", " a", "a\0", "a\ud83d", "a\nb", "x".repeat(257)]) {
      expect((await post.keyed(hello({ externalUserId }))).status).toBe(400);
    }
    const bytes = Buffer.from(JSON.stringify(hello({ externalUserId: "olga", text: "?" })));
    bytes[bytes.indexOf("?")] = 0xff;
    expect((await post.signed(bytes)).status).toBe(200);
    expect((await history("web:olga")).map(({ text }) => text)).toContain("\uFFFD");
  });

  test("dates of the future count as now, so that they cannot stand before what is said until then", async () => {
    const ahead = { sentAt: "2027-01-01T00:00:00Z", editedAt: "2027-01-01T00:00:00Z" };
    const first = hello({ externalUserId: "pia", ...ahead });
    await post.keyed(first);
    expect(await history("web:pia")).toMatchObject([{ sentAt: "2026-03-01T10:00:10.000Z" }]);
    clock.advance(1000);
    expect((await post.keyed({ ...first, text: "b", editedAt: undefined })).body.outcome).toBe(
      "edited",
    );
  });

  test("a number that JavaScript would change stays what it was", async () => {
    const { body } = await post.signed(
      JSON.stringify(hello({ payload: { n: "@" } })).replace('"@"', "9007199254740993"),
    );
    const [row] = await rows(sql`select payload::text from chat_messages where id = ${body.id}`);
    expect(row?.payload).toContain("9007199254740993");
  });
});
