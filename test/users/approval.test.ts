import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { draftOf, HOUR, type Learning, MINUTE, openLearning } from "../turns/learning.ts";

onBothDatabases((engine) => {
  let learning: Learning;
  let person = 7000;
  beforeAll(async () => {
    learning = await openLearning(engine, { env: { TELEGRAM_AUTO_APPROVE: "false" } });
  });
  afterAll(() => learning.close());
  beforeEach(async () => {
    await learning.fresh();
    person++;
  });

  const decide = (status: string, reason = "known to us") =>
    learning.app.ok("set_user_status", { userId: `telegram:${person}`, status, reason });

  test("what somebody wrote before they were approved is never learned from; what they write since is", async () => {
    const { say, answer, clock, double, later } = learning;
    await say(person, "my secret before");
    clock.advance(MINUTE);
    await decide("approved");
    await say(person, "I like tea");
    await answer(person, "noted");
    double.next({ facts: [draftOf("likes.tea", true)] });
    await later(HOUR);
    expect(double.received).toHaveLength(1);
    expect(JSON.stringify(double.received)).not.toContain("secret before");
    expect(await learning.factsOf(person)).toMatchObject([{ key: "likes.tea" }]);
  });

  test("the first approval's time stays, whatever is decided afterwards", async () => {
    const { say, clock } = learning;
    await say(person, "hello");
    const first = await decide("approved");
    expect(first).toMatchObject({ status: "approved", approvedAt: clock.now().toISOString() });
    clock.advance(HOUR);
    for (const status of ["blocked", "pending", "approved"]) {
      expect(await decide(status)).toMatchObject({ status, approvedAt: first.approvedAt });
    }
  });

  test("blocking ends what was begun: an open turn is skipped, and nothing is learned from it", async () => {
    const { say, double, later } = learning;
    await say(person, "hello");
    await decide("approved");
    await say(person, "I like coffee");
    await decide("blocked", "spam");
    expect(await learning.turnsOf(person)).toMatchObject([
      { state: "skipped", reason: "not-approved" },
    ]);
    await decide("approved");
    await later(HOUR);
    expect(double.received).toHaveLength(0);
  });

  test("what somebody says while they are blocked is archived and found by no search, also once they are approved again", async () => {
    const { say, app } = learning;
    const userId = `telegram:${person}`;
    await say(person, "a marmoset before");
    await decide("blocked", "spam");
    await say(person, "a marmoset meanwhile");
    await decide("approved");
    await say(person, "a marmoset afterwards");
    const history = await app.ok("get_chat_history", { userId });
    expect((history.messages as object[]).length).toBe(3);
    const { messages } = await app.ok("recall", { userId, query: "marmoset" });
    const found = (messages as { text: string }[]).map(({ text }) => text).sort();
    expect(found).toEqual(["a marmoset afterwards", "a marmoset before"]);
  });

  test("what somebody changes a message to while they are blocked is not learned from, also once they are approved again", async () => {
    const { say, answer, edit, double, settle, later } = learning;
    await say(person, "hello");
    await decide("approved");
    const id = await say(person, "I like tea");
    await answer(person, "noted");
    double.next({ facts: [draftOf("likes.tea", true)] });
    await settle();
    await decide("blocked", "spam");
    await edit(person, id, "I like gold");
    await decide("approved");
    await later(HOUR);
    expect(double.received).toHaveLength(1);
    expect(await learning.factsOf(person)).toMatchObject([{ withdrawnAt: expect.any(Date) }]);
  });

  test("the trail tells who decided what about whom, and why", async () => {
    const { say, app, clock } = learning;
    await say(person, "hello");
    const key = await app.createKey({ role: "admin", name: "front desk" });
    const userId = await learning.userId(person);
    await app.ok("set_user_status", { userId, status: "approved", reason: "a customer" }, key);
    clock.advance(1000);
    const block = { status: "blocked", reason: "spam" };
    expect((await app.v1("PUT", `/v1/users/${userId}/status`, block)).status).toBe(200);
    const keyId = (await app.v1("GET", "/v1/keys")).body.keys as { id: string; name: string }[];
    const { body } = await app.v1("GET", `/v1/audit?subjectKind=user&subjectId=${userId}`);
    expect(body.events).toMatchObject([
      {
        actor: "operator",
        action: "user.blocked",
        reason: "spam",
        details: { before: "approved" },
        at: clock.now().toISOString(),
      },
      {
        actor: keyId.find(({ name }) => name === "front desk")?.id,
        action: "user.approved",
        reason: "a customer",
        details: { before: "pending" },
      },
    ]);
    const page = await app.v1("GET", `/v1/audit?limit=1&subjectId=${userId}`);
    const next = await app.v1(
      "GET",
      `/v1/audit?subjectId=${userId}&before=${page.body.nextBefore}`,
    );
    expect(next.body.events).toHaveLength(1);
  });

  test("those who wait for an approval are listed, the newest first, a page at a time", async () => {
    await learning.say(person, "hello");
    const { body } = await learning.app.v1("GET", "/v1/users?status=pending");
    const [newest] = body.people as { id: string; createdAt: string; identities: string[] }[];
    expect(newest).toMatchObject({ identities: [`telegram:${person}`], status: "pending" });
    await decide("approved");
    const after = await learning.app.v1("GET", "/v1/users?status=pending");
    expect(JSON.stringify(after.body)).not.toContain(newest?.id);
    expect((await learning.app.v1("GET", "/v1/users?status=unknown")).status).toBe(400);
  });

  test("a member cannot decide, and a decision needs a reason", async () => {
    await learning.say(person, "hello");
    const member = await learning.app.createKey();
    const decision = { userId: `telegram:${person}`, status: "approved" };
    const call = (args: object, key?: string) =>
      learning.app.call("set_user_status", { ...decision, ...args }, key);
    expect((await call({ reason: "x" }, member)).error?.code).toBe("FORBIDDEN");
    expect((await call({})).error?.code).toBe("INVALID_INPUT");
    expect((await call({ reason: " " })).error?.code).toBe("INVALID_INPUT");
  });
});
