import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { openWhatsapp, said } from "./app-under-test.ts";
import { DATE, delivery, entry, message, PHONE } from "./fixtures.ts";

onBothDatabases((engine) => {
  let whatsapp: Awaited<ReturnType<typeof openWhatsapp>>;
  beforeAll(async () => {
    whatsapp = await openWhatsapp(engine);
  });
  afterAll(() => whatsapp.app.dispose());

  const rows = (where = sql`true`) =>
    whatsapp.app.database.transactions.system("operator", (tx) =>
      tx.execute<{ kind: string; delivery_status: string | null; turn_id: string | null }>(
        sql`select kind, delivery_status, turn_id from chat_messages
          where channel = 'whatsapp' and ${where} order by sent_at, id`,
      ),
    );

  test("a message is archived for a person who is pending until somebody approves them", async () => {
    const contact = {
      profile: { name: "Ana", username: "@ana" },
      wa_id: "15550001",
      user_id: "US.1",
    };
    await whatsapp.deliver(
      said({ from: "15550001", from_user_id: "US.1", text: { body: "hi" } }, [contact]),
    );
    expect(await whatsapp.person("whatsapp:US.1")).toMatchObject({
      username: "ana",
      firstName: "Ana",
      status: "pending",
    });
    expect(await whatsapp.texts("whatsapp:15550001")).toEqual(["hi"]);
    expect(await rows()).toMatchObject([{ turn_id: null }]);
  });

  test("an account may approve everybody; its store and org are the account's", async () => {
    const account = { channel: "whatsapp", account: "lyon", secretVariable: "LYON" };
    const more = { verifyVariable: "LYON_VERIFY", autoApprove: true };
    const key = await whatsapp.app.createKey({}, "acme");
    await whatsapp.app.v1("POST", "/v1/channels", { ...account, ...more }, "acme");
    const body = said({ from_user_id: "US.10", from: "15550010", text: { body: "in acme" } });
    expect(await whatsapp.post(body, "lyon")).toBe(401);
    expect(await whatsapp.post(body, "lyon", "secret-in-LYON")).toBe(200);
    expect(await whatsapp.person("whatsapp:US.10", key)).toMatchObject({ status: "approved" });
    expect(await whatsapp.isKnown("whatsapp:US.10")).toBe(false);
  });

  test("the same ids in two orgs are two people and two messages", async () => {
    const key = await whatsapp.app.createKey({}, "globex");
    const account = { channel: "whatsapp", account: "globex", secretVariable: "GLOBEX" };
    await whatsapp.app.v1("POST", "/v1/channels", { ...account, verifyVariable: "V" }, "globex");
    const body = said({ id: "wamid.same", from_user_id: "US.11", from: "15550011" });
    await whatsapp.deliver(body);
    expect(await whatsapp.post(body, "globex", "secret-in-GLOBEX")).toBe(200);
    const [one, two] = [
      await whatsapp.person("whatsapp:US.11"),
      await whatsapp.person("whatsapp:US.11", key),
    ];
    expect(one.id).not.toBe(two.id);
    await whatsapp.deliver(
      said({
        id: "wamid.revokes-it",
        from_user_id: "US.11",
        from: "15550011",
        type: "revoke",
        revoke: { original_message_id: "wamid.same" },
      }),
    );
    expect(await whatsapp.texts("whatsapp:US.11")).toEqual([null]);
    const { messages } = await whatsapp.app.ok(
      "get_chat_history",
      { userId: "whatsapp:US.11" },
      key,
    );
    expect(messages).toMatchObject([{ text: "hello" }]);
  });

  test("a delivery that comes again, whole or in other company, adds nothing", async () => {
    const from = { from_user_id: "US.20", from: undefined };
    const [one, two, three] = ["one", "two", "three"].map((body) =>
      message({ ...from, text: { body } }),
    );
    await whatsapp.deliver(delivery({ messages: [one, two] }));
    await Promise.all([1, 2, 3].map(() => whatsapp.deliver(delivery({ messages: [one, two] }))));
    await whatsapp.deliver({
      entry: [entry({ messages: [two] }), entry({ messages: [three, one] })],
    });
    expect(await whatsapp.texts("whatsapp:US.20")).toEqual(["one", "two", "three"]);
  });

  test("one message id under two of the business's numbers is two messages", async () => {
    const twin = { id: "wamid.twin", from_user_id: "US.21", from: undefined };
    await whatsapp.deliver(said(twin));
    await whatsapp.deliver(delivery({ messages: [message(twin)] }, { phone: "106540352242999" }));
    expect(await whatsapp.texts("whatsapp:US.21")).toEqual(["hello", "hello"]);
  });

  test("an edit replaces the text, a revocation erases it for good", async () => {
    const from = { from_user_id: "US.22", from: undefined };
    const first = said({ ...from, id: "wamid.e", text: { body: "I am vegan" } });
    const inner = { type: "text", text: { body: "I was vegan" } };
    const edit = (timestamp: number, content: object) =>
      said({
        ...from,
        id: `wamid.e${timestamp}`,
        timestamp: String(timestamp),
        type: "edit",
        text: undefined,
        edit: { original_message_id: "wamid.e", message: content },
      });
    await whatsapp.deliver(
      first,
      edit(DATE + 60, inner),
      edit(DATE + 30, { ...inner, text: { body: "old" } }),
    );
    expect(await whatsapp.history("whatsapp:US.22")).toMatchObject([
      { text: "I was vegan", edited: true },
    ]);
    const revoke = { type: "revoke", text: undefined, revoke: { original_message_id: "wamid.e" } };
    await whatsapp.deliver(said({ ...from, ...revoke }), first);
    expect(await whatsapp.history("whatsapp:US.22")).toMatchObject([
      { kind: "service", text: null },
    ]);
  });

  describe("how far a message came", () => {
    const to = {
      to: "15550030",
      to_user_id: "US.30",
      from: "15550783881",
      from_user_id: undefined,
    };
    const echo = (fields: object) =>
      delivery(
        { message_echoes: [message({ ...to, ...fields })] },
        { field: "smb_message_echoes" },
      );
    const report = (id: string, status: string) => delivery({ statuses: [{ id, status }] });
    const statusOf = async (id: string) =>
      (await rows(sql`platform_message_id = ${`${PHONE}:${id}`}`)).map(
        ({ delivery_status }) => delivery_status,
      );

    test("goes forward only, in whatever order it is told", async () => {
      await whatsapp.deliver(echo({ id: "wamid.s1" }));
      expect(await statusOf("wamid.s1")).toEqual([null]);
      for (const [status, now] of [
        ["sent", "sent"],
        ["read", "read"],
        ["delivered", "read"],
        ["failed", "read"],
        ["sent", "read"],
      ] as const) {
        await whatsapp.deliver(report("wamid.s1", status));
        expect(await statusOf("wamid.s1")).toEqual([now]);
      }
    });

    test("a message that failed and arrived all the same has arrived", async () => {
      await whatsapp.deliver(echo({ id: "wamid.s2" }), report("wamid.s2", "failed"));
      expect(await statusOf("wamid.s2")).toEqual(["failed"]);
      await whatsapp.deliver(report("wamid.s2", "delivered"));
      expect(await statusOf("wamid.s2")).toEqual(["delivered"]);
    });

    test("is said of nothing that is not there, and of no message of theirs", async () => {
      const before = (await rows()).length;
      await whatsapp.deliver(report("wamid.never", "read"));
      expect(await rows()).toHaveLength(before);
      await whatsapp.deliver(said({ id: "wamid.in", from_user_id: "US.30", from: undefined }));
      await whatsapp.deliver(report("wamid.in", "read"));
      expect(await statusOf("wamid.in")).toEqual([null]);
    });
  });

  test("what cannot be read is kept and answered 200, and blocks nothing", async () => {
    const before = (await rows(sql`kind = 'unsupported'`)).length;
    const odd = delivery({ messages: [{ id: 7, text: { body: "\0\ud83d" } }, message()] });
    await whatsapp.deliver(odd, { hello: 1 }, odd);
    expect(await rows(sql`kind = 'unsupported'`)).toHaveLength(before + 2);
  });

  test("NUL and half a surrogate pair become U+FFFD, in names too", async () => {
    const contact = { user_id: "US.60", profile: { name: "A\0na", username: "a\ud83d" } };
    const fields = { from_user_id: "US.60", from: undefined, text: { body: "x\0y\ud83dz" } };
    await whatsapp.deliver(said(fields, [contact]));
    expect(await whatsapp.texts("whatsapp:US.60")).toEqual(["x\uFFFDy\uFFFDz"]);
    expect(await whatsapp.person("whatsapp:US.60")).toMatchObject({ firstName: "A\uFFFDna" });
  });
});
