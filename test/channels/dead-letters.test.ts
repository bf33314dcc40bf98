import { expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { ForwardingUnderTest, HOUR } from "./forwarding-under-test.ts";

onBothDatabases((engine) => {
  const s = new ForwardingUnderTest(engine);

  const die = async () => {
    s.runtime.answer = (_, response) => {
      response.statusCode = 500;
    };
    await s.forward();
    await s.later(24 * HOUR);
    s.runtime.answer = () => {};
  };

  test("what is not taken for 24 hours is given up, and the next one goes on", async () => {
    await s.write(s.one, 1);
    await s.write(s.two, 2);
    await s.write(s.one, 3);
    await die();
    expect(await s.deliveries("dead")).toMatchObject([
      { state: "dead", event: "message.received", lastError: "status 500", account: "main" },
      { state: "dead" },
      { state: "dead" },
    ]);
    expect(JSON.stringify(await s.deliveries("dead"))).not.toMatch(/m1|m2|m3/);
    await s.write(s.one, 4);
    await s.forward();
    expect(s.runtime.said.at(-1)).toBe("message.received m4");
  });

  test("one is replayed, or all, in their order and before what waits", async () => {
    for (const message of [1, 2, 3]) await s.write(s.one, message);
    await die();
    const dead = await s.deliveries("dead");
    expect(dead).toHaveLength(3);
    const second = dead[1]?.id;
    const replayed = await s.app.v1("POST", `/v1/deliveries/${second}/replay`);
    expect(replayed).toMatchObject({ status: 200, body: { state: "pending", attempts: 0 } });
    await s.forward();
    expect(s.runtime.said.at(-1)).toBe("message.received m2");
    expect(s.runtime.received.at(-1)?.id).toBe(second);
    await s.write(s.one, 4);
    expect((await s.app.v1("POST", "/v1/deliveries/replay")).body).toEqual({ replayed: 2 });
    await s.forward();
    expect(s.runtime.said.slice(-3)).toEqual([1, 3, 4].map((n) => `message.received m${n}`));
    expect((await s.app.v1("POST", "/v1/deliveries/replay")).body).toEqual({ replayed: 0 });
  });

  test("one that waits is tried now, those before it first", async () => {
    s.runtime.answer = (_, response) => {
      response.statusCode = 500;
    };
    await s.write(s.one, 1);
    await s.forward();
    await s.later(HOUR);
    await s.write(s.one, 2);
    s.runtime.answer = () => {};
    const taken = s.runtime.said.length;
    await s.forward();
    expect(s.runtime.said.slice(taken)).toEqual([]);
    const [second] = await s.deliveries("pending");
    const tried = await s.app.v1("POST", `/v1/deliveries/${second?.id}/replay`);
    expect(tried).toMatchObject({ status: 200, body: { id: second?.id, state: "pending" } });
    await s.forward();
    expect(s.runtime.said.slice(taken)).toEqual([1, 2].map((n) => `message.received m${n}`));
  });

  test("a replayed one has another day", async () => {
    await s.write(s.one, 1);
    await die();
    s.runtime.answer = (_, response) => {
      response.statusCode = 500;
    };
    await s.app.v1("POST", "/v1/deliveries/replay");
    await s.later(23 * HOUR);
    expect(await s.deliveries("dead")).toEqual([]);
    await s.later(2 * HOUR);
    expect(await s.deliveries("dead")).toHaveLength(1);
  });

  test("are listed page by page, and forgotten after 30 days", async () => {
    for (const message of [1, 2, 3]) await s.write(s.one, message);
    await die();
    const ids: string[] = [];
    let before = "";
    for (let page = 0; page < 3; page++) {
      const { body } = await s.app.v1("GET", `/v1/deliveries?limit=1${before}`);
      const [delivery] = body.deliveries as { id: string }[];
      ids.push(delivery?.id ?? "");
      before = `&before=${body.nextBefore}`;
    }
    expect(before).toBe("&before=null");
    expect(ids).toEqual((await s.deliveries("dead")).map(({ id }) => id));
    await s.later(29 * 24 * HOUR);
    expect(await s.deliveries("dead")).toHaveLength(3);
    await s.later(2 * 24 * HOUR);
    expect(await s.deliveries("dead")).toEqual([]);
  });
});
