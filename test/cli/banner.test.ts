import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../support/database.ts";
import { ServerProcess } from "../support/server-process.ts";

test("a server that asks for no key shows none, and the first start that asks for one does", async () => {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  const open = await ServerProcess.ready({ ...env, AUTH: "none" });
  expect(open.output).toContain("AUTH=none: whoever can reach this address is the owner.");
  expect(open.output).toMatch(/claude mcp add --transport http souvenir \S+\/mcp\n/);
  expect(open.output).not.toContain("svr_");
  expect(await open.stop()).toBe(0);

  const closed = await ServerProcess.ready(env);
  const [, key] = /Your owner key.*\n {2}(svr_\S+)\n/.exec(closed.output) ?? [];
  expect((await closed.rpc("tools/list", {}, String(key))).status).toBe(200);
});
