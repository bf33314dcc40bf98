import { createHmac } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { DATE, delivery, entry, message, PHONE } from "./fixtures.ts";

const SECRET = "app-secret-of-the-tests";

interface Shown {
  readonly id: string;
  readonly text: string | null;
  readonly kind: string;
  readonly direction: string;
  readonly edited: boolean;
}

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, {
      clock: new TestClock("2026-03-01T10:00:10.000Z").now,
      secretOf: (variable) => `secret-in-${variable}`,
      env: { WHATSAPP_APP_SECRET: SECRET, WHATSAPP_VERIFY_TOKEN: "verify-me" },
      background: false,
    });
  });
  afterAll(() => app.dispose());

  const post = async (body: object, account = "main", secret = SECRET) => {
    const payload = JSON.stringify(body);
    const signature = createHmac("sha256", secret).update(payload).digest("hex");
    const { statusCode } = await app.http.inject({
      method: "POST",
      url: `/webhooks/whatsapp/${account}`,
      headers: { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` },
      payload,
    });
    return statusCode;
  };
  const deliver = async (...bodies: object[]) => {
    for (const body of bodies) expect(await post(body)).toBe(200);
  };
  const said = (fields: object, contacts: object[] = []) =>
    delivery({ contacts, messages: [message(fields)] });
  const person = async (userId: string, key?: string) =>
    (await app.ok("get_user_context", { userId }, key)).user as {
      id: string;
      username: string;
      firstName: string;
      status: string;
      identities: { externalId: string }[];
    };
  const history = async (userId: string) =>
    (await app.ok("get_chat_history", { userId })).messages as Shown[];
  const texts = async (userId: string) => (await history(userId)).map(({ text }) => text);
  const isKnown = async (userId: string) =>
    (await app.call("get_user_context", { userId })).error === undefined;
  const idsOf = async (userId: string) =>
    (await person(userId)).identities.map(({ externalId }) => externalId).sort();
  const rows = (where = sql`true`) =>
    app.database.transactions.system("operator", (tx) =>
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
    await deliver(
      said({ from: "15550001", from_user_id: "US.1", text: { body: "hi" } }, [contact]),
    );
    expect(await person("whatsapp:US.1")).toMatchObject({
      username: "ana",
      firstName: "Ana",
      status: "pending",
    });
    expect(await texts("whatsapp:15550001")).toEqual(["hi"]);
    expect(await rows()).toMatchObject([{ turn_id: null }]);
  });

  test("an account may approve everybody; its store and org are the account's", async () => {
    const account = { channel: "whatsapp", account: "lyon", secretVariable: "LYON" };
    const more = { verifyVariable: "LYON_VERIFY", autoApprove: true };
    const key = await app.createKey({}, "acme");
    await app.v1("POST", "/v1/channels", { ...account, ...more }, "acme");
    const body = said({ from_user_id: "US.10", from: "15550010", text: { body: "in acme" } });
    expect(await post(body, "lyon")).toBe(401);
    expect(await post(body, "lyon", "secret-in-LYON")).toBe(200);
    expect(await person("whatsapp:US.10", key)).toMatchObject({ status: "approved" });
    expect(await isKnown("whatsapp:US.10")).toBe(false);
  });

  test("the same ids in two orgs are two people and two messages", async () => {
    const key = await app.createKey({}, "globex");
    const account = { channel: "whatsapp", account: "globex", secretVariable: "GLOBEX" };
    await app.v1("POST", "/v1/channels", { ...account, verifyVariable: "V" }, "globex");
    const body = said({ id: "wamid.same", from_user_id: "US.11", from: "15550011" });
    await deliver(body);
    expect(await post(body, "globex", "secret-in-GLOBEX")).toBe(200);
    const [one, two] = [await person("whatsapp:US.11"), await person("whatsapp:US.11", key)];
    expect(one.id).not.toBe(two.id);
    await deliver(
      said({
        id: "wamid.revokes-it",
        from_user_id: "US.11",
        from: "15550011",
        type: "revoke",
        revoke: { original_message_id: "wamid.same" },
      }),
    );
    expect(await texts("whatsapp:US.11")).toEqual([null]);
    const { messages } = await app.ok("get_chat_history", { userId: "whatsapp:US.11" }, key);
    expect(messages).toMatchObject([{ text: "hello" }]);
  });

  test("a delivery that comes again, whole or in other company, adds nothing", async () => {
    const from = { from_user_id: "US.20", from: undefined };
    const [one, two, three] = ["one", "two", "three"].map((body) =>
      message({ ...from, text: { body } }),
    );
    await deliver(delivery({ messages: [one, two] }));
    await Promise.all([1, 2, 3].map(() => deliver(delivery({ messages: [one, two] }))));
    await deliver({ entry: [entry({ messages: [two] }), entry({ messages: [three, one] })] });
    expect(await texts("whatsapp:US.20")).toEqual(["one", "two", "three"]);
  });

  test("one message id under two of the business's numbers is two messages", async () => {
    const twin = { id: "wamid.twin", from_user_id: "US.21", from: undefined };
    await deliver(said(twin));
    await deliver(delivery({ messages: [message(twin)] }, { phone: "106540352242999" }));
    expect(await texts("whatsapp:US.21")).toEqual(["hello", "hello"]);
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
    await deliver(
      first,
      edit(DATE + 60, inner),
      edit(DATE + 30, { ...inner, text: { body: "old" } }),
    );
    expect(await history("whatsapp:US.22")).toMatchObject([{ text: "I was vegan", edited: true }]);
    const revoke = { type: "revoke", text: undefined, revoke: { original_message_id: "wamid.e" } };
    await deliver(said({ ...from, ...revoke }), first);
    expect(await history("whatsapp:US.22")).toMatchObject([{ kind: "service", text: null }]);
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
      await deliver(echo({ id: "wamid.s1" }));
      expect(await statusOf("wamid.s1")).toEqual([null]);
      for (const [status, now] of [
        ["sent", "sent"],
        ["read", "read"],
        ["delivered", "read"],
        ["failed", "read"],
        ["sent", "read"],
      ] as const) {
        await deliver(report("wamid.s1", status));
        expect(await statusOf("wamid.s1")).toEqual([now]);
      }
    });

    test("a message that failed and arrived all the same has arrived", async () => {
      await deliver(echo({ id: "wamid.s2" }), report("wamid.s2", "failed"));
      expect(await statusOf("wamid.s2")).toEqual(["failed"]);
      await deliver(report("wamid.s2", "delivered"));
      expect(await statusOf("wamid.s2")).toEqual(["delivered"]);
    });

    test("is said of nothing that is not there, and of no message of theirs", async () => {
      const before = (await rows()).length;
      await deliver(report("wamid.never", "read"));
      expect(await rows()).toHaveLength(before);
      await deliver(said({ id: "wamid.in", from_user_id: "US.30", from: undefined }));
      await deliver(report("wamid.in", "read"));
      expect(await statusOf("wamid.in")).toEqual([null]);
    });
  });

  describe("one person with several ids", () => {
    const both = (id: string, number: string, fields: object = {}) =>
      said({ from_user_id: id, from: number, ...fields });
    const byNumber = (number: string) => said({ from: number, from_user_id: undefined });
    const byId = (id: string) => said({ from_user_id: id, from: undefined });

    test("whoever was known by a number keeps their memory when the id comes with it", async () => {
      await deliver(byNumber("15550040"));
      await app.ok("update_memory", { userId: "whatsapp:15550040", key: "size", value: 42 });
      await deliver(both("US.40", "15550040"), byId("US.40"));
      expect(await idsOf("whatsapp:US.40")).toEqual(["15550040", "US.40"]);
      expect(await texts("whatsapp:US.40")).toHaveLength(3);
      const { memory } = await app.ok("get_user_context", { userId: "whatsapp:US.40" });
      expect(memory).toEqual({ size: 42 });
    });

    test("whoever hid their number is the same person once they show it", async () => {
      await deliver(byId("US.41"), both("US.41", "15550041"));
      expect(await idsOf("whatsapp:15550041")).toEqual(["15550041", "US.41"]);
    });

    test("a number that was passed on does not pass on the memory", async () => {
      await deliver(both("US.42", "15550042", { text: { body: "my secret" } }));
      await deliver(both("US.43", "15550042", { text: { body: "I am new here" } }));
      expect(await texts("whatsapp:US.43")).toEqual(["I am new here"]);
      expect(await idsOf("whatsapp:US.43")).toEqual(["US.43"]);
      expect(await texts("whatsapp:US.42")).toEqual(["my secret"]);
    });

    test("with a new number and a new id somebody is still who they were", async () => {
      await deliver(both("US.44", "15550044", { text: { body: "before" } }));
      const system = { type: "user_changed_number", wa_id: "15550045", user_id: "US.45" };
      const change = said({
        from: "15550044",
        from_user_id: undefined,
        type: "system",
        text: undefined,
        system,
      });
      await deliver(change, both("US.45", "15550045", { text: { body: "after" } }));
      expect(await texts("whatsapp:US.45")).toEqual(["before", null, "after"]);
      expect(await idsOf("whatsapp:US.44")).toEqual(["15550044", "15550045", "US.44", "US.45"]);
      // The next owner of the old number is somebody else.
      await deliver(both("US.46", "15550044", { text: { body: "hello" } }));
      expect(await texts("whatsapp:US.46")).toEqual(["hello"]);
    });

    test("an id that changed outside of a conversation is the same person's", async () => {
      await deliver(byId("US.47"));
      const update = { user_id: { previous: "US.47", current: "US.48" }, wa_id: "15550048" };
      await deliver(delivery({ user_id_update: [update] }, { field: "user_id_update" }));
      expect(await idsOf("whatsapp:US.47")).toEqual(["15550048", "US.47", "US.48"]);
      const unknown = { user_id: { previous: "US.nobody", current: "US.somebody" } };
      await deliver(delivery({ user_id_update: [unknown] }));
      expect(await isKnown("whatsapp:US.somebody")).toBe(false);
    });

    test("somebody else's number is not taken from them", async () => {
      await deliver(both("US.50", "15550050"), both("US.51", "15550051"));
      const system = { type: "user_changed_number", wa_id: "15550051" };
      await deliver(
        said({
          from: "15550050",
          from_user_id: undefined,
          type: "system",
          text: undefined,
          system,
        }),
      );
      expect(await idsOf("whatsapp:US.51")).toEqual(["15550051", "US.51"]);
      expect(await idsOf("whatsapp:US.50")).toEqual(["15550050", "US.50"]);
    });

    test("first messages that arrive at once make one person", async () => {
      const first = ["a", "b", "c", "d"].map((body) =>
        both("US.52", "15550052", { text: { body } }),
      );
      expect(await Promise.all(first.map((body) => post(body)))).toEqual([200, 200, 200, 200]);
      expect(await texts("whatsapp:US.52")).toHaveLength(4);
      expect(await texts("whatsapp:15550052")).toHaveLength(4);
    });
  });

  test("what cannot be read is kept and answered 200, and blocks nothing", async () => {
    const before = (await rows(sql`kind = 'unsupported'`)).length;
    const odd = delivery({ messages: [{ id: 7, text: { body: "\0\ud83d" } }, message()] });
    await deliver(odd, { hello: 1 }, odd);
    expect(await rows(sql`kind = 'unsupported'`)).toHaveLength(before + 2);
  });

  test("NUL and half a surrogate pair become U+FFFD, in names too", async () => {
    const contact = { user_id: "US.60", profile: { name: "A\0na", username: "a\ud83d" } };
    const fields = { from_user_id: "US.60", from: undefined, text: { body: "x\0y\ud83dz" } };
    await deliver(said(fields, [contact]));
    expect(await texts("whatsapp:US.60")).toEqual(["x\uFFFDy\uFFFDz"]);
    expect(await person("whatsapp:US.60")).toMatchObject({ firstName: "A\uFFFDna" });
  });
});
