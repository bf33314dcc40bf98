import { afterAll, beforeAll, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { type Learning, openLearning } from "./learning.ts";

onBothDatabases((engine) => {
  let learning: Learning;
  beforeAll(async () => {
    learning = await openLearning(engine);
  });
  afterAll(() => learning.close());
  const get = async (path: string) => (await learning.app.v1("GET", path)).body;
  const patch = (changes: object) => learning.app.v1("PATCH", "/v1/memory", changes);

  test("an admin sees and changes how the org uses memory, one setting at a time", async () => {
    const defaults = { enabled: true, offShare: 0, extractionDailyLimit: null };
    expect(await get("/v1/memory")).toEqual(defaults);
    expect((await patch({ offShare: 0.25 })).body).toEqual({ ...defaults, offShare: 0.25 });
    expect((await patch({ enabled: false, extractionDailyLimit: 10 })).body).toEqual({
      enabled: false,
      offShare: 0.25,
      extractionDailyLimit: 10,
    });
    expect((await patch({})).body).toMatchObject({ enabled: false });
    expect((await patch(defaults)).body).toEqual(defaults);
  });

  test.each([
    { offShare: 1.5 },
    { offShare: "half" },
    { extractionDailyLimit: -1 },
    { extractionDailyLimit: 0.5 },
    { enabled: "no" },
    { memoryEnabled: false },
  ])("%j is refused and changes nothing", async (changes) => {
    const before = await get("/v1/memory");
    expect(await patch(changes)).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
    expect(await get("/v1/memory")).toEqual(before);
  });

  test("the settings of one org are not another's", async () => {
    await learning.app.v1("POST", "/v1/orgs", { slug: "other" });
    await learning.app.v1("PATCH", "/v1/memory", { enabled: false }, "other");
    expect(await get("/v1/memory")).toMatchObject({ enabled: true });
    expect((await learning.app.v1("GET", "/v1/memory", undefined, "other")).body).toMatchObject({
      enabled: false,
    });
  });

  test("turns with and without memory are compared by their thumbs and regenerations", async () => {
    await learning.turn(6000, "a", { feedback: { thumb: "up" } });
    await learning.turn(6000, "b", { feedback: { thumb: "up", regenerated: true } });
    await learning.turn(6000, "c", { feedback: { thumb: "down" } });
    await learning.turn(6000, "d");
    await patch({ offShare: 1 });
    await learning.turn(6000, "e", { feedback: { regenerated: true } });
    await patch({ offShare: 0 });
    expect(await get("/v1/ab")).toMatchObject({
      arms: {
        on: { turns: 4, up: 2, down: 1, regenerated: 1, upRate: 2 / 3, regeneratedRate: 0.25 },
        off: { turns: 1, up: 0, down: 0, regenerated: 1, upRate: null, regeneratedRate: 1 },
      },
    });
    learning.clock.advance(60_000);
    const since = learning.clock.now().toISOString();
    expect(await get(`/v1/ab?since=${since}`)).toMatchObject({
      since,
      arms: { on: { turns: 0 }, off: { turns: 0 } },
    });
    expect(await learning.app.v1("GET", "/v1/ab?since=yesterday")).toMatchObject({ status: 400 });
  });

  test("turns are listed by state, newest first, page by page, without texts", async () => {
    for (let n = 0; n < 5; n++) await learning.turn(6001, `secret plan ${n}`);
    const all = (await get("/v1/turns?state=closed")).turns as { id: string }[];
    const paged: { id: string }[] = [];
    let before = "";
    do {
      const page = await get(`/v1/turns?state=closed&limit=2${before}`);
      paged.push(...(page.turns as { id: string }[]));
      before = page.nextBefore === null ? "" : `&before=${page.nextBefore}`;
    } while (before !== "");
    expect(paged).toEqual(all);
    expect(all.length).toBeGreaterThanOrEqual(5);
    expect(JSON.stringify(all)).not.toContain("secret plan");
    for (const query of ["?state=lost", "?state=closed&limit=0", "?state=closed&before=x"]) {
      expect((await learning.app.v1("GET", `/v1/turns${query}`)).status).toBe(400);
    }
  });

  test("a turn that is not there cannot be tried again", async () => {
    for (const id of ["nothing", "01a22cf9-a1ac-717d-aba2-acd816dfc60c"]) {
      expect((await learning.app.v1("POST", `/v1/turns/${id}/retry`)).status).toBe(404);
      expect((await learning.app.v1("DELETE", `/v1/corrections/${id}`)).status).toBe(404);
    }
  });
});
