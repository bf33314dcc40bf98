import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { ForwardingUnderTest } from "../channels/forwarding-under-test.ts";
import { onBothDatabases } from "../support/database.ts";
import { links, undo } from "./people.ts";

onBothDatabases((engine) => {
  const s = new ForwardingUnderTest(engine);

  const heard = () =>
    s.runtime.received.map(({ type, data }) => [type, data.message?.text, data.user.id]);
  const idOf = async (userId: string) => {
    const { user } = await s.app.ok("get_user_context", { userId });
    return (user as { id: string }).id;
  };

  test("a code is not forwarded; the runtime hears that its sender is the other person, with all their ids", async () => {
    await s.write(s.one, 1, "hello");
    const { code } = await s.app.ok("link_identity", { userId: `${s.one}` });
    await s.write(s.two, 2, String(code));
    await s.forward();
    const one = await idOf(`${s.one}`);
    expect(heard()).toEqual([
      ["message.received", "hello", one],
      ["identity.linked", undefined, one],
    ]);
    const identities = [s.one, s.two].map((id) => ({ channel: "telegram", externalId: `${id}` }));
    expect(s.runtime.received[1]?.data.user).toMatchObject({ id: one, identities });
  });

  test("the runtime hears of a link where the person wrote, not where their history was imported", async () => {
    await s.write(s.one, 1, "hello");
    await s.write(s.two, 2, "hello");
    const said = { direction: "inbound", kind: "text", text: "since then", forwarded: false };
    const imported = await s.app.v1("POST", "/v1/imports/messages", {
      ...{ channel: "telegram", account: "import" },
      messages: [
        {
          ...{ ...said, sentAt: "2026-11-01T00:00:00Z", payload: {} },
          ...{ conversationId: "old", platformMessageId: `export:${s.one}:1` },
          sender: { externalId: `${s.one}` },
        },
      ],
    });
    expect(imported.status).toBe(200);
    await links(s.app, `${s.one}`, `${s.two}`);
    const told = await s.query(
      sql`select account from forward_deliveries where event = 'identity.linked'`,
    );
    expect(told).toEqual([{ account: "main" }]);
  });

  test("what waits of both is one person's, in their order, and goes back where it came by", async () => {
    await s.write(s.one, 1, "first");
    await s.write(s.two, 2, "second");
    const [one, two] = [await idOf(`${s.one}`), await idOf(`${s.two}`)];
    const link = await links(s.app, `${s.one}`, `${s.two}`);
    await s.write(s.two, 3, "third");
    await undo(s.app, link);
    await s.forward();
    const messages = heard().filter(([type]) => type === "message.received");
    expect(messages.filter(([, , id]) => id === one)).toEqual([["message.received", "first", one]]);
    expect(messages.filter(([, , id]) => id === two)).toEqual([
      ["message.received", "second", two],
      ["message.received", "third", two],
    ]);
  });

  test("what waits of somebody who is blocked is dropped, and what they write then is not forwarded", async () => {
    await s.write(s.one, 1, "before");
    const decide = (status: string) =>
      s.app.ok("set_user_status", { userId: `${s.one}`, status, reason: "x" });
    await decide("blocked");
    await s.write(s.one, 2, "while blocked");
    await decide("approved");
    await s.write(s.one, 3, "after");
    await s.forward();
    expect(heard().map(([, text]) => text)).toEqual(["after"]);
  });
});
