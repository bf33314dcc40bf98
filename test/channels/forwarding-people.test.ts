import { expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";
import { ForwardingUnderTest, SECOND } from "./forwarding-under-test.ts";

onBothDatabases((engine) => {
  const s = new ForwardingUnderTest(engine);

  const refuse = () => {
    s.runtime.answer = (_, response) => {
      response.statusCode = 503;
    };
  };
  /** Delivers what waits, and forgets what was tried before. */
  const accept = async () => {
    s.runtime.forget();
    for (let wait = 0; wait < 4; wait++) await s.later(10 * SECOND);
  };
  const idOf = async (person: number) => {
    const { user } = await s.app.ok("get_user_context", { userId: `${person}` });
    return (user as { id: string }).id;
  };
  const heard = () =>
    s.runtime.received.map(({ type, data }) => [type, data.message?.text, data.user.id]);

  test("what waits of somebody who is blocked is dropped, and not sent when they are approved again", async () => {
    refuse();
    await s.write(s.one, 1);
    await s.write(s.two, 2);
    await s.forward();
    const status = { status: "blocked", reason: "spam" };
    const path = `/v1/users/telegram:${s.one}/status`;
    expect((await s.app.v1("PUT", path, status)).status).toBe(200);
    expect(await s.deliveries("pending")).toHaveLength(1);
    await s.app.v1("PUT", path, { status: "approved", reason: "no spam" });
    await accept();
    expect(s.runtime.said).toEqual(["message.received m2"]);
  });

  test("what waits of two who are linked comes in one order, as one person's, and apart after an undo", async () => {
    refuse();
    for (const [person, message] of [
      [s.one, 1],
      [s.two, 2],
      [s.one, 3],
    ] as const) {
      await s.write(person, message);
    }
    await s.forward();
    const [one, two] = [await idOf(s.one), await idOf(s.two)];
    const link = { with: one, reason: "the same person" };
    const linked = await s.app.v1("POST", `/v1/users/${two}/links`, link);
    expect(linked.status).toBeLessThan(300);
    await accept();
    expect(heard()).toEqual([
      ...[2, 1, 3].map((n) => ["message.received", `m${n}`, two]),
      ["identity.linked", undefined, two],
    ]);

    refuse();
    await s.write(s.one, 4);
    await s.write(s.two, 5);
    await s.forward();
    await s.app.v1("POST", `/v1/links/${linked.body.id}/undo`, {});
    await accept();
    expect(new Set(heard().map((line) => line.join(" ")))).toEqual(
      new Set([`message.received m4 ${one}`, `message.received m5 ${two}`]),
    );
  });

  test("a person who sends a code is told of as linked, and the code itself is not forwarded", async () => {
    await s.write(s.one, 1);
    await s.write(s.two, 2);
    await s.forward();
    const [one, two] = [await idOf(s.one), await idOf(s.two)];
    const { code } = await s.app.ok("link_identity", { userId: one });
    s.runtime.forget();
    await s.app.telegram(privateMessage(s.two, { message_id: 3, text: String(code) }));
    await s.forward();
    const ids = [s.one, s.two].map((id) => ({ channel: "telegram", externalId: `${id}` }));
    expect(s.runtime.received).toMatchObject([
      { type: "identity.linked", data: { user: { id: one, identities: ids } } },
    ]);
    expect(two).not.toBe(one);
    expect(s.runtime.received[0]?.data).not.toHaveProperty("message");
  });
});
