import { afterAll, beforeAll, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { openWhatsapp, said } from "./app-under-test.ts";
import { delivery } from "./fixtures.ts";

onBothDatabases((engine) => {
  let whatsapp: Awaited<ReturnType<typeof openWhatsapp>>;
  beforeAll(async () => {
    whatsapp = await openWhatsapp(engine);
  });
  afterAll(() => whatsapp.app.dispose());

  const both = (id: string, number: string, fields: object = {}) =>
    said({ from_user_id: id, from: number, ...fields });
  const byNumber = (number: string) => said({ from: number, from_user_id: undefined });
  const byId = (id: string) => said({ from_user_id: id, from: undefined });

  test("whoever was known by a number keeps their memory when the id comes with it", async () => {
    await whatsapp.deliver(byNumber("15550040"));
    await whatsapp.app.ok("update_memory", { userId: "whatsapp:15550040", key: "size", value: 42 });
    await whatsapp.deliver(both("US.40", "15550040"), byId("US.40"));
    expect(await whatsapp.idsOf("whatsapp:US.40")).toEqual(["15550040", "US.40"]);
    expect(await whatsapp.texts("whatsapp:US.40")).toHaveLength(3);
    const { memory } = await whatsapp.app.ok("get_user_context", { userId: "whatsapp:US.40" });
    expect(memory).toEqual({ size: 42 });
  });

  test("whoever hid their number is the same person once they show it", async () => {
    await whatsapp.deliver(byId("US.41"), both("US.41", "15550041"));
    expect(await whatsapp.idsOf("whatsapp:15550041")).toEqual(["15550041", "US.41"]);
  });

  test("two people who turn out to be one by the platform's own word are linked, in the journal", async () => {
    const { app } = whatsapp;
    await whatsapp.deliver(byNumber("15550061"));
    await app.ok("update_memory", { userId: "whatsapp:15550061", key: "size", value: 42 });
    const { id } = await whatsapp.person("whatsapp:15550061");
    await whatsapp.deliver(byId("US.61"));
    await app.ok("update_memory", { userId: "whatsapp:US.61", key: "colour", value: "red" });
    await whatsapp.deliver(both("US.61", "15550061"), byId("US.61"));
    expect(await whatsapp.idsOf("whatsapp:US.61")).toEqual(["15550061", "US.61"]);
    expect(await whatsapp.texts("whatsapp:US.61")).toHaveLength(4);
    const { memory } = await app.ok("get_user_context", { userId: "whatsapp:US.61" });
    expect(memory).toEqual({ colour: "red", size: 42 });
    const { body } = await app.v1("GET", `/v1/links?userId=${id}`);
    expect(body.links).toMatchObject([{ toUserId: id, proof: "platform", actor: "whatsapp" }]);
  });

  test("who is blocked gets no other name, and the other one stays apart", async () => {
    const { app } = whatsapp;
    const be = (userId: string, status: string) =>
      app.v1("PUT", `/v1/users/${userId}/status`, { status, reason: "a test" });
    await whatsapp.deliver(byNumber("15550063"), byId("US.63"));
    await be("whatsapp:15550063", "blocked");
    await whatsapp.deliver(both("US.63", "15550063"));
    expect(await whatsapp.idsOf("whatsapp:US.63")).toEqual(["US.63"]);
    expect(await whatsapp.person("whatsapp:15550063")).toMatchObject({ status: "blocked" });
  });

  test("a new id that wrote before the platform said whose it is, is linked to that person", async () => {
    await whatsapp.deliver(byId("US.64"), byId("US.65"));
    const update = { user_id: { previous: "US.64", current: "US.65" } };
    await whatsapp.deliver(delivery({ user_id_update: [update] }, { field: "user_id_update" }));
    expect(await whatsapp.idsOf("whatsapp:US.64")).toEqual(["US.64", "US.65"]);
    expect(await whatsapp.texts("whatsapp:US.65")).toHaveLength(2);
  });

  test("a number that was passed on does not pass on the memory", async () => {
    await whatsapp.deliver(both("US.42", "15550042", { text: { body: "my secret" } }));
    await whatsapp.deliver(both("US.43", "15550042", { text: { body: "I am new here" } }));
    expect(await whatsapp.texts("whatsapp:US.43")).toEqual(["I am new here"]);
    expect(await whatsapp.idsOf("whatsapp:US.43")).toEqual(["US.43"]);
    expect(await whatsapp.texts("whatsapp:US.42")).toEqual(["my secret"]);
  });

  test("with a new number and a new id somebody is still who they were", async () => {
    await whatsapp.deliver(both("US.44", "15550044", { text: { body: "before" } }));
    const system = { type: "user_changed_number", wa_id: "15550045", user_id: "US.45" };
    const change = said({
      from: "15550044",
      from_user_id: undefined,
      type: "system",
      text: undefined,
      system,
    });
    await whatsapp.deliver(change, both("US.45", "15550045", { text: { body: "after" } }));
    expect(await whatsapp.texts("whatsapp:US.45")).toEqual(["before", null, "after"]);
    expect(await whatsapp.idsOf("whatsapp:US.44")).toEqual([
      "15550044",
      "15550045",
      "US.44",
      "US.45",
    ]);
    // The next owner of the old number is somebody else.
    await whatsapp.deliver(both("US.46", "15550044", { text: { body: "hello" } }));
    expect(await whatsapp.texts("whatsapp:US.46")).toEqual(["hello"]);
  });

  test("an id that changed outside of a conversation is the same person's", async () => {
    await whatsapp.deliver(byId("US.47"));
    const update = { user_id: { previous: "US.47", current: "US.48" }, wa_id: "15550048" };
    await whatsapp.deliver(delivery({ user_id_update: [update] }, { field: "user_id_update" }));
    expect(await whatsapp.idsOf("whatsapp:US.47")).toEqual(["15550048", "US.47", "US.48"]);
    const unknown = { user_id: { previous: "US.nobody", current: "US.somebody" } };
    await whatsapp.deliver(delivery({ user_id_update: [unknown] }));
    expect(await whatsapp.isKnown("whatsapp:US.somebody")).toBe(false);
  });

  test("somebody else's number is not taken from them", async () => {
    await whatsapp.deliver(both("US.50", "15550050"), both("US.51", "15550051"));
    const system = { type: "user_changed_number", wa_id: "15550051" };
    await whatsapp.deliver(
      said({
        from: "15550050",
        from_user_id: undefined,
        type: "system",
        text: undefined,
        system,
      }),
    );
    expect(await whatsapp.idsOf("whatsapp:US.51")).toEqual(["15550051", "US.51"]);
    expect(await whatsapp.idsOf("whatsapp:US.50")).toEqual(["15550050", "US.50"]);
  });

  test("first messages that arrive at once make one person", async () => {
    const first = ["a", "b", "c", "d"].map((body) => both("US.52", "15550052", { text: { body } }));
    expect(await Promise.all(first.map((body) => whatsapp.post(body)))).toEqual([
      200, 200, 200, 200,
    ]);
    expect(await whatsapp.texts("whatsapp:US.52")).toHaveLength(4);
    expect(await whatsapp.texts("whatsapp:15550052")).toHaveLength(4);
  });
});
