import { expect, test } from "vitest";
import { readCommand } from "../../src/cli/command.ts";
import { USAGE } from "../../src/cli/usage.ts";
import { UsageError } from "../../src/cli/usage-error.ts";

const read = (line: string) => readCommand(line.split(" ").filter((word) => word !== ""));

test.each(["", "help", "--help", "-h", "keys create --help"])("%j asks for help", (line) => {
  expect(read(line)).toEqual({ kind: "help" });
});

test.each([
  ["keys list", ["GET", "/v1/keys"]],
  ["orgs create acme --name Acme", ["POST", "/v1/orgs", { slug: "acme", name: "Acme" }]],
  ["stores create shop", ["POST", "/v1/stores", { slug: "shop", name: undefined }]],
  ["channels remove telegram a/b", ["DELETE", "/v1/channels/telegram/a%2Fb"]],
  ["keys revoke 7", ["DELETE", "/v1/keys/7"]],
  ["orgs memory", ["GET", "/v1/memory"]],
  ["orgs memory --enabled false", ["PATCH", "/v1/memory", { enabled: false }]],
  ["orgs memory --off-share 0.5", ["PATCH", "/v1/memory", { offShare: 0.5 }]],
  ["orgs memory --extraction-limit 0", ["PATCH", "/v1/memory", { extractionDailyLimit: 0 }]],
  [
    "orgs memory --extraction-limit default",
    ["PATCH", "/v1/memory", { extractionDailyLimit: null }],
  ],
  // The server says what it takes.
  ["orgs memory --enabled maybe", ["PATCH", "/v1/memory", { enabled: "maybe" }]],
  ["deliveries list", ["GET", "/v1/deliveries"]],
  ["deliveries list --state pending", ["GET", "/v1/deliveries?state=pending"]],
  ["people list --before a", ["GET", "/v1/users?before=a"]],
  ["links list --user 7 --before a", ["GET", "/v1/links?userId=7&before=a"]],
  ["deliveries list --before a", ["GET", "/v1/deliveries?before=a"]],
  ["deliveries replay 7", ["POST", "/v1/deliveries/7/replay"]],
  ["deliveries replay --all", ["POST", "/v1/deliveries/replay"]],
  ["consolidate", ["POST", "/v1/consolidate"]],
])("%s is one request", (line, request) => {
  expect(read(line)).toMatchObject({ kind: "request", request });
});

test("a key takes its role, agent and pins from the options", () => {
  const line = "keys create --name n --role admin --agent maya --pin-user telegram:1 --pin-store s";
  expect(read(`${line} --pin-agent maya --org acme`)).toEqual({
    kind: "request",
    org: "acme",
    request: [
      "POST",
      "/v1/keys",
      {
        name: "n",
        role: "admin",
        defaultAgent: "maya",
        pinUserId: "telegram:1",
        pinStoreId: "s",
        pinAgentId: "maya",
      },
    ],
  });
});

test.each([
  ["keys", "unknown command: keys"],
  ["keys destroy", "unknown command: keys destroy"],
  ["constructor name", "unknown command"],
  ["keys create", "--name is missing"],
  ["keys revoke", "ID is missing"],
  ["deliveries replay", "ID is missing"],
  ["deliveries replay 7 --all", "7 is one word too many"],
  ["keys revoke a b", "b is one word too many"],
  ["channels add telegram", "ACCOUNT is missing"],
  ["channels add telegram bot2", "--secret-variable is missing"],
  ["keys list --role admin", "it takes no --role"],
  ["keys create --name n --store shop", "it takes no --store"],
  ["orgs list --org acme", "it takes no --org"],
  ["consolidate --org acme", "it takes no --org"],
  ["consolidate now", "unknown command: consolidate now"],
  ["keys list --verbose", "--verbose"],
])("%s is refused: %s", (line, reason) => {
  expect(() => read(line)).toThrow(UsageError);
  expect(() => read(line)).toThrow(reason);
});

test("memory settings are those of the org that is named", () => {
  expect(read("orgs memory --org acme")).toMatchObject({ org: "acme" });
});

test("the help names every command", () => {
  for (const noun of ["keys", "orgs", "stores"]) expect(USAGE).toContain(`  ${noun} create `);
  for (const line of [
    "keys revoke ID",
    "channels add CHANNEL ACCOUNT",
    "channels remove",
    "  consolidate ",
  ]) {
    expect(USAGE).toContain(line);
  }
});
