import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { OWNER_KEY } from "../support/app.ts";
import { createDatabase } from "../support/database.ts";
import { ServerProcess, souvenir } from "../support/server-process.ts";
import { privateMessage } from "../support/telegram.ts";

interface Schema {
  readonly properties: Record<string, unknown>;
}

async function toolsOf(server: ServerProcess, key: string) {
  const response = await server.rpc("tools/list", {}, key);
  const { result } = (await response.json()) as {
    result: { tools: { name: string; inputSchema: Schema }[] };
  };
  return new Map(result.tools.map(({ name, inputSchema }) => [name, inputSchema.properties]));
}

test("the operator sets an org up while the server runs, and every step counts at once", async () => {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  const secret = "secret-of-the-second-bot";
  const server = await ServerProcess.ready({ ...env, OWNER_KEY, BOT2_SECRET: secret });
  const run = async (line: string) => {
    const { code, stdout, stderr } = await souvenir(line.split(" "), env);
    expect(`${code} ${stderr}`).toMatch(/^0 (The key is shown only this once|$)/);
    return stdout === "" ? {} : JSON.parse(stdout);
  };
  const operatorFile = join(env.DATA_DIR as string, "operator.json");
  expect((await stat(operatorFile)).mode & 0o777).toBe(0o600);

  await run("orgs create acme --name Acme");
  await run("stores create shop --org acme");

  const pins = "--pin-user telegram:1 --pin-store shop --pin-agent maya";
  const { key, info } = await run(`keys create --name bot --org acme ${pins}`);
  const pinned = await toolsOf(server, key);
  const free = await toolsOf(server, OWNER_KEY);
  for (const [name, properties] of pinned) {
    for (const pin of ["userId", "storeId", "agentId"]) expect(properties).not.toHaveProperty(pin);
    const rest = Object.keys(free.get(name) ?? {}).filter(
      (property) => !["userId", "storeId", "agentId"].includes(property),
    );
    expect(Object.keys(properties)).toEqual(rest);
  }
  expect((await server.call("update_memory", { key: "k", value: 1 }, key)).value).toBeDefined();

  const { keys } = await run("keys list --org acme");
  expect(keys).toMatchObject([{ id: info.id, name: "bot", revokedAt: null }]);
  expect(JSON.stringify(keys)).not.toContain(key);
  await run(`keys revoke ${info.id} --org acme`);
  expect((await server.rpc("tools/list", {}, key)).status).toBe(401);

  await run("channels add telegram bot2 --secret-variable BOT2_SECRET --store shop --org acme");
  const deliver = async () => {
    const response = await fetch(`${server.url}/webhooks/telegram/bot2`, {
      method: "POST",
      headers: { "x-telegram-bot-api-secret-token": secret },
      body: JSON.stringify(privateMessage(1, { message_id: 1, text: "hello" })),
    });
    return response.status;
  };
  expect(await deliver()).toBe(200);
  await run("channels remove telegram bot2 --org acme");
  expect(await deliver()).toBe(404);

  expect(await server.stop()).toBe(0);
  await expect(stat(operatorFile)).rejects.toThrow("ENOENT");
  expect((await run("orgs list")).orgs).toMatchObject([{ slug: "acme" }, { slug: "default" }]);
});

test("a channel account whose secret is not in the server's environment is added with a warning", async () => {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  const add = (account: string) =>
    souvenir(["channels", "add", "telegram", account, "--secret-variable", "BOT3_SECRET"], env);
  const server = await ServerProcess.ready({ ...env, OWNER_KEY });
  for (const account of ["bot3", "bot4"]) {
    const { code, stdout, stderr } = await add(account);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { account, secretIsSet: false }]);
    expect(stderr).toMatch(/^Not set: BOT3_SECRET\. /);
    // The second time the command opens the database itself.
    if (account === "bot3") await server.stop();
  }
});

test("what cannot be done is said on standard error with exit code 1", async () => {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  const unknown = await souvenir(["keys", "destroy"], env);
  expect(unknown).toMatchObject({ code: 1, stdout: "" });
  expect(unknown.stderr).toMatch(
    /^unknown command: keys destroy\n\nUsage: .*\n\n {2}keys create [\s\S]*\n {2}keys revoke ID\n\nAll commands: --help\n$/,
  );

  const server = await ServerProcess.ready({ ...env, OWNER_KEY });
  const refused = await souvenir(["keys", "create", "--name", "n", "--pin-store", "shop"], env);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("no store has this storeId");
  const nobody = await souvenir(["people", "block", "web:1", "--reason", "spam"], env);
  expect(nobody.stderr).toContain("nobody is known under this userId. A person becomes known ");
  // The file that says where the server is was lost: the directory still names its owner.
  await rm(join(env.DATA_DIR as string, "operator.json"));
  const locked = await souvenir(["keys", "list"], env);
  expect(locked).toMatchObject({ code: 1, stdout: "" });
  expect(locked.stderr).toContain(`process ${server.pid}.`);
});
