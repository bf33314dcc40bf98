import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Erasure } from "../../src/erasure/erasure.ts";
import { rowsOf } from "../isolation/rows.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

const MARKER = "quokka77";
const LONG = `the ${MARKER} is what this person told us about at some length`;

onBothDatabases((engine) => {
  let app: TestApp;
  const clock = new TestClock();
  let tenant = 0;
  let slug: string;
  let owner: string;
  let orgId: string;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, background: false });
  });
  beforeEach(async () => {
    slug = `tenant-${++tenant}`;
    owner = await app.createKey({ role: "owner" }, slug);
    const { body } = await app.v1("GET", "/v1/orgs");
    orgId =
      (body.orgs as { id: string; slug: string }[]).find((org) => org.slug === slug)?.id ?? "";
  });
  afterAll(() => app.dispose());

  const v1 = (method: "GET" | "POST", path: string, body?: object) =>
    app.v1(method, path, body, slug);
  const post = async (path: string, body: object) => {
    const answer = await v1("POST", path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    await app.jobs.runDue();
    const entry = await v1("GET", `/v1/erasures/${String(answer.body.id)}`);
    return entry.body as unknown as Erasure;
  };
  const erase = (body: object) => post("/v1/erasures", body);
  const dump = async () => JSON.stringify(await rowsOf(app.database.transactions, orgId));
  const tell = (userId: string, text: string, more: object = {}) =>
    app.ok(
      "archive_turn",
      { userId, channel: "web", userMessage: text, assistantMessage: `noted: ${text}`, ...more },
      owner,
    );

  /** Entries, messages, facts of three scopes, events and jobs of one person, all with the marker. */
  async function seedPerson(userId: string) {
    await app.v1("POST", "/v1/stores", { slug: "shop" }, slug);
    await app.ok("update_memory", { userId, key: "note", value: LONG }, owner);
    await app.ok("update_memory", { userId, key: "note", value: { again: LONG } }, owner);
    const turn = await tell(userId, LONG, { idempotencyKey: `turn of ${userId}` });
    await tell(userId, `in a group: ${LONG}`, { conversationId: "group-1" });
    await tell("web:neighbour", "hello everybody in here, how are you", {
      conversationId: "group-1",
    });
    const source = { sourceMessageId: turn.userMessageId, value: LONG, reasoning: MARKER };
    for (const scope of [
      { scope: "org" },
      { scope: "store", storeId: "shop" },
      { scope: "user", userId },
    ]) {
      await app.ok("remember_fact", { ...scope, ...source, key: "told.us" }, owner);
      // Its event quotes the value that it speaks against.
      const other = { key: "told.us", value: "another", idempotencyKey: JSON.stringify(scope) };
      await app.ok("remember_fact", { ...scope, ...other }, owner);
    }
    await app.v1(
      "PUT",
      `/v1/users/${encodeURIComponent(userId)}/status`,
      { status: "approved", reason: `asked: ${MARKER}` },
      slug,
    );
    await app.createKey({ name: MARKER, pinUserId: userId }, slug);
    const { value } = await app.call("link_identity", { userId }, owner);
    expect(value).toBeDefined();
  }

  // Case B139: messages in private and in a group, facts of three scopes, events, entries and jobs.
  test("an erased person leaves no byte of theirs in any table, and others keep what is theirs", async () => {
    await seedPerson("web:u1");
    await tell("web:u2", "I sell lamps and have a shop in Lyon", {});
    await app.ok("remember_fact", { scope: "user", userId: "web:u2", key: "f", value: "y" }, owner);
    expect(await dump()).toMatch(MARKER);

    const entry = await erase({ kind: "user", userId: "web:u1", confirm: "web:u1" });

    expect(entry.report.scan?.left).toEqual({});
    expect(entry.state).toBe("scrubbed");
    const left = await dump();
    expect(left).not.toMatch(MARKER);
    expect(left).not.toMatch("web:u1");
    expect(JSON.stringify(entry)).not.toMatch(MARKER);
    expect(entry.report.deleted).toMatchObject({
      ...{ chat_messages: 4, user_facts: 2, facts_from_messages: 2, memory_kv: 1, turns: 2 },
      ...{ users: 1, channel_identities: 1, api_keys: 1, link_codes: 1, idempotent_calls: 1 },
    });
    // Claims of the org and the store that others made live on.
    const { facts } = await app.ok("recall", { storeId: "shop" }, owner);
    expect((facts as { value: unknown }[]).map(({ value }) => value)).toEqual([
      "another",
      "another",
    ]);
    const { memory, recentMessages } = await app.ok(
      "get_user_context",
      { userId: "web:u2" },
      owner,
    );
    expect(memory).toEqual({});
    expect(recentMessages).toHaveLength(2);
  });

  // Case B137.
  test("erasing one person leaves the other as they were; an empty or missing id is refused", async () => {
    for (const userId of ["web:u1", "web:u2"]) {
      await app.ok("update_memory", { userId, key: "k", value: userId }, owner);
      await app.ok("remember_fact", { scope: "user", userId, key: "f", value: userId }, owner);
    }
    await erase({ kind: "user", userId: "web:u1", confirm: "u1" });
    const gone = await app.call("get_user_context", { userId: "web:u1" }, owner);
    expect(gone.error?.code).toBe("NOT_FOUND");
    const { memory } = await app.ok("get_user_context", { userId: "web:u2" }, owner);
    expect(memory).toEqual({ k: "web:u2" });
    const found = await app.ok("recall", { userId: "web:u2", query: "web:u2" }, owner);
    expect(found.facts).toMatchObject([{ value: "web:u2" }]);

    const before = await dump();
    for (const body of [
      { kind: "user", userId: "", confirm: "u2" },
      { kind: "user", confirm: "u2" },
      { kind: "user", userId: "web:u2", confirm: "" },
      { kind: "user", userId: "web:u2", confirm: "u1" },
      { kind: "user", userId: "web:u2" },
      { kind: "people", userId: "web:u2", confirm: "u2" },
    ]) {
      const { status } = await v1("POST", "/v1/erasures", body);
      expect(status, JSON.stringify(body)).toBe(400);
    }
    expect(
      (await v1("POST", "/v1/erasures", { kind: "user", userId: "web:u3", confirm: "u3" })).status,
    ).toBe(404);
    expect(await dump()).toBe(before);
  });

  test("whoever was linked into an erased person is erased too, and comes back as somebody new", async () => {
    await tell("web:one", LONG);
    await tell("web:two", LONG);
    const linked = await app.v1(
      "POST",
      "/v1/users/web%3Aone/links",
      { with: "web:two", reason: "same" },
      slug,
    );
    expect(linked.status).toBe(201);
    const { user } = await app.ok("get_user_context", { userId: "web:one" }, owner);
    await erase({ kind: "user", userId: "web:two", confirm: "two" });
    expect(await dump()).not.toMatch(MARKER);
    for (const userId of ["web:one", "web:two", (user as { id: string }).id]) {
      expect((await app.call("get_user_context", { userId }, owner)).error?.code).toBe("NOT_FOUND");
    }
    await tell("web:two", "hello again");
    const again = await app.ok("get_user_context", { userId: "web:two" }, owner);
    expect(again.recentMessages).toHaveLength(2);
  });

  test("a conversation goes with what was learned from it, of everybody in it, and nothing else does", async () => {
    const said = await tell("web:a", LONG, { conversationId: "room" });
    await tell("web:b", LONG, { conversationId: "room" });
    await tell("web:a", "something else entirely", { conversationId: "elsewhere" });
    const fact = { scope: "org", key: "room", value: LONG, sourceMessageId: said.userMessageId };
    await app.ok("remember_fact", fact, owner);
    const entry = await erase({
      kind: "conversation",
      channel: "web",
      conversationId: "room",
      confirm: "room",
    });
    expect(entry).toMatchObject({
      state: "scrubbed",
      report: { deleted: { chat_messages: 4, turns: 2 } },
    });
    expect(JSON.stringify(entry)).not.toMatch(/"room"/);
    expect(await dump()).not.toMatch(MARKER);
    const { messages } = await app.ok("get_chat_history", { userId: "web:a" }, owner);
    expect(messages).toHaveLength(2);
  });

  test("a store goes with its facts, messages and keys; its people and the other stores stay", async () => {
    for (const shop of ["shop", "other"]) await app.v1("POST", "/v1/stores", { slug: shop }, slug);
    await tell("web:a", LONG, { storeId: "shop" });
    await tell("web:a", "kept words", { storeId: "other" });
    for (const [storeId, value] of [
      ["shop", LONG],
      ["other", "kept"],
    ]) {
      await app.ok("remember_fact", { scope: "store", storeId, key: "k", value }, owner);
    }
    const pinned = await app.createKey({ pinStoreId: "shop" }, slug);
    const entry = await erase({ kind: "store", storeId: "shop", confirm: "shop" });
    expect(entry).toMatchObject({
      state: "scrubbed",
      report: { deleted: { stores: 1, store_facts: 1 } },
    });
    expect(await dump()).not.toMatch(MARKER);
    expect((await app.call("recall", { storeId: "shop" }, owner)).error?.code).toBe("NOT_FOUND");
    await expect(app.call("recall", {}, pinned)).rejects.toThrow("401");
    const { facts } = await app.ok("recall", { storeId: "other" }, owner);
    expect(facts).toMatchObject([{ value: "kept" }]);
  });

  test("an org goes whole, and its chain of erasures stays; other orgs are as they were", async () => {
    await seedPerson("web:u1");
    const other = await app.v1("GET", "/v1/stores", undefined, "default");
    const { body } = await v1("POST", "/v1/erasures", { kind: "org", confirm: slug });
    await app.jobs.runDue();
    const rows = await rowsOf(app.database.transactions, orgId);
    const left = Object.entries(rows).filter(([, of]) => of.length > 0);
    expect(left.map(([table]) => table)).toEqual(["erasures"]);
    expect(JSON.stringify(left)).not.toMatch(MARKER);
    const { body: entry } = await app.v1("GET", `/v1/erasures/${String(body.id)}`);
    expect(entry).toMatchObject({
      kind: "org",
      state: "scrubbed",
      report: { deleted: { orgs: 1 } },
    });
    expect(await app.v1("GET", "/v1/stores", undefined, "default")).toEqual(other);
  });

  test("a reset takes what was learned of a person and leaves what was said and stored", async () => {
    await seedPerson("web:u1");
    const entry = await post("/v1/resets", { scope: "user", userId: "web:u1", confirm: "u1" });
    expect(entry).toMatchObject({
      kind: "reset",
      state: "scrubbed",
      report: { deleted: { user_facts: 2 } },
    });
    const { memory, recentMessages } = await app.ok(
      "get_user_context",
      { userId: "web:u1" },
      owner,
    );
    expect(memory).toEqual({ note: { again: LONG } });
    expect(recentMessages).toHaveLength(4);
    const rows = await rowsOf(app.database.transactions, orgId);
    expect(rows.user_facts).toEqual([]);
    const events = (rows.memory_events ?? []).map((row) => JSON.parse(row));
    const ofUser = events.filter(({ scope }) => scope === "user");
    expect(JSON.stringify(ofUser)).not.toMatch(MARKER);
    expect(ofUser.filter(({ kind }) => kind === "reset")).toHaveLength(2);
  });

  test("only owners without pins erase and reset", async () => {
    const body = { kind: "user", userId: "web:u1", confirm: "u1" };
    await tell("web:u1", LONG);
    const keys = [
      await app.createKey({ role: "admin" }, slug),
      await app.createKey({ role: "owner", pinUserId: "web:u1" }, slug),
      await app.createKey({ role: "owner", pinAgentId: "maya" }, slug),
    ];
    for (const key of keys) {
      for (const url of ["/v1/erasures", "/v1/resets", "/v1/erasures/run"]) {
        const { statusCode } = await app.http.inject({
          ...{ method: "POST", url, headers: { authorization: `Bearer ${key}` } },
          payload: url === "/v1/resets" ? { scope: "user", userId: "web:u1", confirm: "u1" } : body,
        });
        expect(statusCode).toBe(403);
      }
    }
  });
});
