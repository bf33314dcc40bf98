import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../../support/app.ts";
import { onBothDatabases } from "../../support/database.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine);
  });
  afterAll(() => app.dispose());

  test("a member forgets a person's fact by its id, with all that repeats it", async () => {
    const member = await app.createKey({ role: "member" });
    const fact = { scope: "user", userId: "telegram:1", key: "city", value: "Lyon" };
    await app.ok("remember_fact", { ...fact, sourceMessageId: "m1" });
    const { factId } = await app.ok("remember_fact", { ...fact, sourceMessageId: "m2" });
    expect(await app.ok("forget_fact", { factId, reason: "asked to" }, member)).toEqual({
      factId,
      count: 2,
    });
    expect((await app.ok("recall", { userId: "telegram:1" })).facts).toEqual([]);
    expect((await app.call("forget_fact", { factId, reason: "again" }, member)).error?.code).toBe(
      "NOT_FOUND",
    );
  });

  test("a member cannot forget what the org knows", async () => {
    const member = await app.createKey({ role: "member" });
    const { factId } = await app.ok("remember_fact", {
      scope: "org",
      key: "policy",
      value: "30 days",
    });
    expect((await app.call("forget_fact", { factId, reason: "no" }, member)).error?.code).toBe(
      "FORBIDDEN",
    );
    expect(await app.ok("forget_fact", { factId, reason: "outdated" })).toEqual({
      factId,
      count: 1,
    });
  });

  test("a reason is required", async () => {
    for (const reason of ["", "  ", undefined]) {
      const { error } = await app.call("forget_fact", { factId: "x", reason });
      expect(error).toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining("reason"),
      });
    }
  });
});
