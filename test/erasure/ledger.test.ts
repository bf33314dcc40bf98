import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Erasure } from "../../src/erasure/erasure.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

const MARKER = "quokka77";
const LONG = `the ${MARKER} is what this person told us about at some length`;

onBothDatabases((engine) => {
  let app: TestApp;
  let tenant = 0;
  let slug: string;
  let owner: string;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, background: false });
  });
  beforeEach(async () => {
    slug = `tenant-${++tenant}`;
    owner = await app.createKey({ role: "owner" }, slug);
  });
  afterAll(() => app.dispose());

  const v1 = (method: "GET" | "POST", path: string, body?: object) =>
    app.v1(method, path, body, slug);
  const ask = async (userId: string) => {
    const { body } = await v1("POST", "/v1/erasures", { kind: "user", userId, confirm: userId });
    return String(body.id);
  };
  const tell = (userId: string, text: string) =>
    app.ok(
      "archive_turn",
      { userId, channel: "web", userMessage: text, assistantMessage: "noted" },
      owner,
    );

  test("a fact that is forgotten has its entry; it is verified, and its bytes wait for the next scrub", async () => {
    const { factId } = await app.ok(
      "remember_fact",
      { scope: "org", key: "k", value: LONG },
      owner,
    );
    await app.ok("forget_fact", { factId, reason: "asked to" }, owner);
    const { body } = await v1("GET", "/v1/erasures");
    expect(body.erasures).toMatchObject([
      { kind: "fact", subjectId: factId, state: "erased", position: 1 },
    ]);
    await v1("POST", "/v1/erasures/run");
    const after = await v1("GET", "/v1/erasures");
    expect(after.body.erasures).toMatchObject([
      { state: "scrubbed", report: { scan: { left: {} } } },
    ]);
  });

  test("entries are a chain: a report that was kept, or an entry that was changed or taken out, is found out", async () => {
    for (const userId of ["web:a", "web:b", "web:c"]) {
      await tell(userId, LONG);
      await ask(userId);
    }
    await app.jobs.runDue();
    const { body } = await v1("GET", "/v1/erasures");
    const [third, second, first] = body.erasures as Erasure[];
    expect(second?.previousHash).toBe(first?.hash);
    const verify = async (report: object) => (await v1("POST", "/v1/erasures/verify", report)).body;
    expect(await verify({ ...second })).toMatchObject({ isVerified: true, faults: [] });
    const changed = { ...second, report: { ...second?.report, deleted: {} } };
    expect(await verify(changed)).toMatchObject({
      isVerified: false,
      faults: ["the report that was shown was changed"],
    });
    const unsealed = { ...second, hash: null };
    expect(await verify(unsealed)).toMatchObject({
      isVerified: false,
      faults: [
        expect.stringMatching(/^the report that was shown was not sealed and says something/),
      ],
    });
    const tamper = (statement: string) => app.database.session(({ run }) => run(statement));
    await tamper(`update erasures set requested_by = 'somebody' where id = '${second?.id}'`);
    expect(await verify({ id: third?.id })).toMatchObject({ faults: ["entry 2 was changed"] });
    await tamper(`delete from erasures where id = '${second?.id}'`);
    expect(await verify({ id: third?.id })).toMatchObject({
      faults: ["entry 2 is missing", "entry 3 does not follow the one before it"],
    });
  });

  test("killed after the person is gone and before that is noted, it comes to its end by itself", async () => {
    await tell("web:u1", LONG);
    const { user } = await app.ok("get_user_context", { userId: "web:u1" }, owner);
    const { id } = user as { id: string };
    const entry = await ask(id);
    await app.jobs.runDue();
    // As the last transaction leaves it.
    const work = JSON.stringify({ work: { target: { kind: "user", userId: id } } });
    await app.database.session(({ run }) =>
      run(`update erasures set state = 'erasing', hash = null, previous_hash = null, erased_at = null,
          verified_at = null, scrubbed_at = null, report = (report::jsonb || '${work}')::json where id = '${entry}'`),
    );
    // Noted by somebody who knew the person a moment before.
    await app.database.session(({ run }) =>
      run(`insert into audit_events (id, org_id, at, actor, action, subject_kind, subject_id, reason)
        select gen_random_uuid(), org_id, now(), 'x', 'x', 'user', '${id}', '${MARKER}' from erasures where id = '${entry}'`),
    );
    expect((await v1("POST", "/v1/erasures/run")).status).toBe(200);
    const { body } = await v1("GET", `/v1/erasures/${entry}`);
    expect(body).toMatchObject({
      state: "scrubbed",
      hash: expect.any(String),
      report: { scan: { left: {} }, cleared: { audit_events: 1 }, deleted: { users: 1 } },
    });
  });

  test("a look long afterwards finds what was written since", async () => {
    await tell("web:u1", LONG);
    const { user } = await app.ok("get_user_context", { userId: "web:u1" }, owner);
    const { id } = user as { id: string };
    const entry = await ask(id);
    await app.jobs.runDue();
    // As somebody would have written who knew the person a moment before.
    await app.database.session(({ run }) =>
      run(`insert into audit_events (id, org_id, at, actor, action, subject_kind, subject_id, reason)
        select gen_random_uuid(), org_id, now(), 'x', 'x', 'user', '${id}', 'x' from erasures where subject_id = '${id}'`),
    );
    const again = await v1("POST", "/v1/erasures/verify", { id: entry });
    expect(again.body).toMatchObject({
      isVerified: false,
      scan: { left: { "audit_events.subject_id": 1 } },
    });
  });
});
