import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { OWNER_KEY } from "./support/app.ts";
import { createDatabase } from "./support/database.ts";
import { ServerProcess, serveInVain } from "./support/server-process.ts";

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "souvenir-smoke-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A migrated data directory: the first start of an empty one takes seconds. */
async function dataDirectory(): Promise<string> {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  return env.DATA_DIR as string;
}

test("the first start shows the owner key and a command that works, and every later start keeps the memory", async () => {
  const DATA_DIR = join(await emptyFolder(), "data");
  const server = await ServerProcess.ready({ DATA_DIR });
  const [, url, key] =
    /claude mcp add --transport http souvenir (\S+) --header "Authorization: Bearer (svr_\S+)"/.exec(
      server.output,
    ) ?? [];
  expect(url).toBe(`${server.url}/mcp`);
  expect(server.output.split(key as string)).toHaveLength(3);

  for (const path of ["/healthz", "/readyz"]) {
    const response = await fetch(server.url + path);
    expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
  }
  const write = { userId: "telegram:1", key: "city", value: "Lyon" };
  expect((await server.call("update_memory", write, key as string)).error).toBeUndefined();
  const metrics = await fetch(`${server.url}/metrics`);
  expect(metrics.headers.get("content-type")).toContain("text/plain");
  expect(await metrics.text()).toContain(
    'souvenir_tool_calls_total{tool="update_memory",outcome="ok"} 1',
  );
  expect(await server.stop()).toBe(0);

  const again = await ServerProcess.ready({ DATA_DIR });
  expect(again.output).not.toMatch(/svr_\w/);
  expect(again.output).toContain("with your key for svr_…:");
  expect(again.output).toContain('--header "Authorization: Bearer svr_…"');
  const { value } = await again.call("get_user_context", { userId: "telegram:1" }, key as string);
  expect(value?.memory).toEqual({ city: "Lyon" });
  expect(await again.stop()).toBe(0);
});

test("a port that is taken ends the start before an owner key is made", async () => {
  const other = await ServerProcess.ready({ DATA_DIR: await dataDirectory(), OWNER_KEY });
  const DATA_DIR = await dataDirectory();
  const refused = await serveInVain({ DATA_DIR, PORT: new URL(other.url).port });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("EADDRINUSE");
  expect(refused.stdout).not.toContain("svr_");
  expect((await ServerProcess.ready({ DATA_DIR })).output).toContain("svr_");
});

test("a second process on one data directory is refused with pid and path, and the first is unharmed", async () => {
  const DATA_DIR = await dataDirectory();
  const first = await ServerProcess.ready({ DATA_DIR, OWNER_KEY });
  const second = await serveInVain({ DATA_DIR, OWNER_KEY });
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`process ${first.pid}.`);
  expect(second.stderr).toContain(DATA_DIR);
  expect(second.stderr).not.toMatch(/^\s+at /m);
  const write = { userId: "telegram:1", key: "k", value: 1 };
  expect((await first.call("update_memory", write, OWNER_KEY)).error).toBeUndefined();
  expect(await readdir(DATA_DIR)).toContain("operator.json");
});

test("a bad environment ends the start with every fault and no value", async () => {
  const bad = {
    PORT: "70000-quokka",
    OWNER_KEY: "quokka-short",
    DATABASE_URL: "postgres://u:quokka%@h/d",
    ALLOWED_HOSTS: "https://quokka",
    LOG_LEVEL: "quokka",
    AUTH: "none",
    HOST: "0.0.0.0",
  };
  const { code, stdout, stderr } = await serveInVain(bad);
  expect(code).toBe(1);
  expect(stdout).toBe("");
  for (const name of Object.keys(bad).filter((variable) => variable !== "HOST")) {
    expect(stderr).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  }
  expect(stderr).not.toContain("quokka");
});
