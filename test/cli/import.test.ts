import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type ImportRequest, runImport } from "../../src/cli/import.ts";
import { IMPORT_VERBS } from "../../src/cli/import-command.ts";
import type { Operator } from "../../src/cli/operator.ts";
import { Progress } from "../../src/cli/progress.ts";
import { account, chat, exported } from "../import/exports.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { createDatabase, onBothDatabases } from "../support/database.ts";
import { souvenir } from "../support/server-process.ts";

async function fileOf(content: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "souvenir-import-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "result.json");
  await writeFile(file, content);
  return file;
}

const telegram = (file: string, flags: object = {}) =>
  IMPORT_VERBS["import telegram"]?.imported(file, flags) as ImportRequest;
const serverMemory = (file: string, flags: object = {}) =>
  IMPORT_VERBS["import server-memory"]?.imported(file, flags) as ImportRequest;

/** Several batches, of two people and a group. */
function manyMessages(first: number): string {
  const said = (person: number, from: number) =>
    Array.from({ length: 600 }, (_, at) => exported(from + at, at % 2 ? 9 : person, `word ${at}`));
  return JSON.stringify(
    account(9, [
      chat("personal_chat", first, said(first, 1)),
      chat("personal_chat", first + 1, said(first + 1, 601)),
      chat("private_group", first + 2, said(first, 1201)),
    ]),
  );
}

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { background: false });
  });
  afterAll(() => app.dispose());

  /** @param breakAfter requests after which the connection is gone */
  async function run(request: ImportRequest, breakAfter = Number.POSITIVE_INFINITY) {
    const out = { stdout: "", stderr: "" };
    let requests = 0;
    const operator: Operator = {
      request: async (method, path, body) => {
        if (++requests > breakAfter) throw new Error("ECONNRESET");
        return app.v1(method, path, body);
      },
      stream: () => Promise.reject(new Error("nothing is exported here")),
      close: async () => {},
    };
    const streamTo = (name: "stdout" | "stderr") => ({
      write: (text: string) => {
        out[name] += text;
      },
    });
    try {
      await runImport(operator, request, {
        stdout: streamTo("stdout"),
        stderr: streamTo("stderr"),
      });
      return { ...out, fault: undefined };
    } catch (fault) {
      return { ...out, fault: String(fault) };
    }
  }
  const lengthOf = async (userId: string) =>
    ((await app.ok("get_chat_history", { userId, limit: 500 })).messages as unknown[]).length;

  test("an import that is interrupted goes on when it is run again, and the third time finds nothing new", async () => {
    const file = await fileOf(manyMessages(500));
    const broken = await run(telegram(file), 2);
    expect(broken.fault).toMatch(/the server is gone\. Run it again/);
    expect(broken.stdout).toContain("1000 new");
    const rest = await run(telegram(file));
    expect(rest.stdout).toContain("1800 messages in the file\n  800 new\n");
    expect(rest.stdout).toContain("1000 already there");
    const again = await run(telegram(file));
    expect(again.stdout).toContain("  0 new\n  1800 already there\n");
    expect(again.stdout).toMatch(/From 2026-03-01 to 2026-03-02, 0 new people/);
    expect(again.stderr).toBe("");
    expect(await lengthOf("500")).toBe(500);
  });

  test("a dry run tells the same and writes nothing", async () => {
    const file = await fileOf(manyMessages(510));
    const dry = await run(telegram(file, { "dry-run": true }));
    expect(dry.stdout).toMatch(/^Dry run, nothing was written/);
    expect(dry.stdout).toContain("1800 new");
    expect(dry.stdout).toContain("2 new people");
    expect((await app.call("get_user_context", { userId: "510" })).error?.code).toBe("NOT_FOUND");
    const real = await run(telegram(file));
    expect(real.stdout.split("\n").slice(2)).toEqual(dry.stdout.split("\n").slice(2));
  });

  test("what comes before the end of a truncated file is imported, and the fault is told", async () => {
    const whole = JSON.stringify(
      chat("personal_chat", 520, [exported(1, 520, "kept"), exported(2, 520, "lost")]),
    );
    const file = await fileOf(whole.slice(0, -30));
    const { stdout, fault } = await run(telegram(file));
    expect(stdout).toContain("1 new");
    expect(fault).toContain("the file ends in the middle");
    expect(await lengthOf("520")).toBe(1);
  });

  test("what is skipped is told by its reason, and examples obey no terminal", async () => {
    const file = await fileOf(
      JSON.stringify(
        account(9, [
          chat("personal_chat", 530, [
            exported(1, 530, `\u001b[31mred ${"long ".repeat(50)}`),
            exported(2, 530, "x", { date_unixtime: "0" }),
          ]),
          chat("saved_messages", 9, [exported(3, 9, "mine")]),
        ]),
      ),
    );
    const { stdout } = await run(telegram(file));
    expect(stdout).toContain("1 skipped: no date");
    expect(stdout).toContain("1 skipped: saved messages");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(/red long .*…\n/);
  });

  test("a server-memory file becomes facts of the org or of a person, once", async () => {
    const line = (fields: object) => `${JSON.stringify(fields)}\n`;
    const file = await fileOf(
      `${line({ type: "entity", name: "Ana", entityType: "person", observations: ["Plays the oboe"] })}nonsense\n${line({ type: "relation", from: "Ana", to: "Acme", relationType: "works_at" })}`,
    );
    const dry = await run(serverMemory(file, { "dry-run": true }));
    expect(dry.stdout).toContain("2 new");
    const first = await run(serverMemory(file));
    expect(first.stdout).toContain("  2 new\n      ana.plays_the_oboe: Plays the oboe\n");
    expect(first.stdout).toContain("1 skipped: broken line, line 2");
    expect((await run(serverMemory(file))).stdout).toContain("  0 new\n  2 already there\n");
    const own = await run(serverMemory(file, { user: "telegram:540" }));
    expect(own.stdout).toContain("2 new");
    const { facts } = await app.ok("recall", {
      userId: "telegram:540",
      query: "oboe",
      scopes: ["user"],
    });
    expect(facts).toMatchObject([{ key: "ana.plays_the_oboe", value: "Plays the oboe" }]);
    const nobody = await run(serverMemory(file, { user: crypto.randomUUID() }));
    expect(nobody.fault).toContain("nobody is known under this userId");
  });
});

test("the command opens the database itself, and tells what it did and what it refused", async () => {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  const file = await fileOf(
    JSON.stringify(chat("personal_chat", 5, [exported(1, 5, "hi"), exported(2, 9, "hello")])),
  );
  const done = await souvenir(["import", "telegram", file], { ...env, OWNER_KEY: "k".repeat(40) });
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("  2 new\n") });
  const none = await souvenir(["import", "telegram", `${file}.no`], env);
  expect(none).toMatchObject({ code: 1, stdout: "" });
  expect(none.stderr).toContain("ENOENT");
  const wrong = await souvenir(["import", "telegram", file, "--me", "me"], env);
  expect(wrong.stderr).toMatch(/--me is the number/);
});

test("a terminal sees a bar that is drawn anew, a log nothing for half a minute", () => {
  let drawn = "";
  const write = (text: string) => {
    drawn += text;
  };
  const bar = new Progress({ isTTY: true, write }, { bytes: 2_000_000, noun: "messages" });
  bar.update(1_000_000, 50);
  bar.update(1_100_000, 60);
  bar.end();
  const clear = "\r\u001b[K";
  expect(drawn.startsWith(clear) && drawn.endsWith(clear)).toBe(true);
  expect(drawn.slice(clear.length, -clear.length)).toMatch(
    /^\[#{12}-{12}\] +50 % {2}1\.0 of 2\.0 MB {2}50 messages {2}\d+\/s$/,
  );
  drawn = "";
  const log = new Progress({ write }, { bytes: 2_000_000, noun: "messages" });
  log.update(1_000_000, 50);
  log.end();
  expect(drawn).toBe("");
});
