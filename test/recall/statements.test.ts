import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openServices, type Services } from "../facts/services.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;
  beforeAll(async () => {
    opened = await openServices(engine);
  });
  beforeEach(async () => {
    s = await opened.fresh();
  });
  afterAll(() => opened.close());

  test("finds a claim by what any of its statements was tagged or worded", async () => {
    await s.remember({
      key: "plan.a",
      value: "monthly",
      tags: ["billing"],
      sourceMessageId: "m1",
    });
    await s.remember({ key: "plan.a", value: "Monthly", sourceMessageId: "m2" });
    expect((await s.recall({ query: "billing" })).facts).toMatchObject([{ key: "plan.a" }]);
  });
});
