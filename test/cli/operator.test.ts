import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/cli/operator.ts";
import { writeOperatorFile } from "../../src/cli/operator-file.ts";
import { readConfig } from "../../src/config.ts";
import { OWNER_KEY, openApp } from "../support/app.ts";
import { createDatabase, onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  async function database() {
    const { env, dispose } = await createDatabase(engine);
    onTestFinished(dispose);
    return { env, config: readConfig({ ...env, OWNER_KEY }) };
  }

  test("what the command line does with no server running is there when one starts", async () => {
    const { env, config } = await database();
    const operator = await connect(config, undefined);
    expect((await operator.request("POST", "/v1/orgs", { slug: "acme" })).status).toBe(201);
    expect((await operator.request("POST", "/v1/orgs", { slug: "acme" })).status).toBe(409);
    await operator.close();

    const acme = await connect(config, "acme");
    expect((await acme.request("POST", "/v1/stores", { slug: "shop" })).status).toBe(201);
    const account = { channel: "telegram", account: "bot2", secretVariable: "BOT2_SECRET" };
    expect((await acme.request("POST", "/v1/channels", account)).status).toBe(201);
    const pinned = { name: "bot", pinUserId: "telegram:1", pinStoreId: "shop" };
    const { key } = (await acme.request("POST", "/v1/keys", pinned)).body;
    const lost = await acme.request("POST", "/v1/keys", { name: "lost" });
    const { id } = lost.body.info as { id: string };
    expect((await acme.request("DELETE", `/v1/keys/${id}`)).status).toBe(200);
    for (const [noun, one] of [
      ["stores", { slug: "shop" }],
      ["channels", { account: "bot2" }],
    ] as const) {
      expect((await acme.request("GET", `/v1/${noun}`)).body[noun]).toMatchObject([one]);
    }
    await acme.close();

    const app = await openApp(engine, { database: env });
    onTestFinished(() => app.close());
    const answer = await app.call("update_memory", { key: "k", value: 1 }, String(key));
    expect(answer.value).toMatchObject({ key: "k", created: true });
    const revoked = app.call("get_user_context", { userId: "telegram:1" }, String(lost.body.key));
    await expect(revoked).rejects.toThrow("401");
  });

  test("an org that does not exist is not made by naming it", async () => {
    const operator = await connect((await database()).config, "nobody");
    onTestFinished(() => operator.close());
    const { status, body } = await operator.request("GET", "/v1/keys");
    expect([status, body.detail]).toEqual([404, "no org has this name"]);
  });
});

test("the file of a server that crashed is harmless, whoever has its port now", async () => {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  const foreign = createServer((_request, response) => {
    response.writeHead(401).end("who are you?");
  });
  await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void foreign.close());
  const { port } = foreign.address() as AddressInfo;
  const config = readConfig({ ...env, OWNER_KEY });

  for (const url of [`http://127.0.0.1:${port}`, "http://127.0.0.1:1", "nonsense"]) {
    writeOperatorFile(config.DATA_DIR, { url, token: "stale" });
    const operator = await connect(config, undefined);
    expect((await operator.request("GET", "/v1/keys")).status).toBe(200);
    await operator.close();
  }
});

test("a PostgreSQL that is away is an error, not an endless wait", async () => {
  const config = readConfig({ DATABASE_URL: "postgres://u:quokka@127.0.0.1:1/d" });
  await expect(connect(config, undefined)).rejects.toThrow(
    "the database of DATABASE_URL cannot be reached",
  );
});
