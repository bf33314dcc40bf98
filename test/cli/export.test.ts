import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCommand } from "../../src/cli/command.ts";
import { runExport } from "../../src/cli/export.ts";
import { runImport } from "../../src/cli/import.ts";
import { connect, type Operator } from "../../src/cli/operator.ts";
import { readConfig } from "../../src/config.ts";
import { readSouvenir } from "../../src/import/souvenir.ts";
import { openApp } from "../support/app.ts";
import { createDatabase, onBothDatabases, type TestDatabase } from "../support/database.ts";

const VALUE = '{"b":[1.5,"}],\\"",null],"a":{"2":"\\\\","__proto__":1}}';

onBothDatabases((engine) => {
  let directory: string;
  let source: TestDatabase;
  let target: TestDatabase;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "souvenir-export-"));
    [source, target] = [await createDatabase(engine), await createDatabase(engine)];
    const app = await openApp(engine, { database: source.env });
    await app.callRaw("update_memory", `{"userId":"web:1","key":"v","value":${VALUE}}`);
    const fact = { scope: "user", userId: "web:1", key: "home.city", value: "Lyon" };
    await app.ok("remember_fact", fact);
    await app.close();
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
    await source.dispose();
    await target.dispose();
  });

  const path = (name: string) => join(directory, name);
  const terminal = () => {
    const said: string[] = [];
    const chunks: Buffer[] = [];
    const stdout = new Writable({
      write(chunk, _encoding, done) {
        chunks.push(Buffer.from(chunk));
        done();
      },
    });
    const stderr = { isTTY: true, write: (text: string) => said.push(text) };
    return { stdout, stderr, said, out: () => Buffer.concat(chunks).toString() };
  };
  const within = async (database: TestDatabase, work: (operator: Operator) => Promise<void>) => {
    const operator = await connect(
      readConfig({ ...database.env, EMBEDDER: "none", LOG_LEVEL: "silent" }),
      undefined,
    );
    try {
      await work(operator);
    } finally {
      await operator.close();
    }
  };
  const run = async (database: TestDatabase, ...words: string[]) => {
    const at = terminal();
    const command = readCommand(words);
    await within(database, async (operator) => {
      if (command.kind === "export") await runExport(operator, command.request, at);
      else if (command.kind === "import") await runImport(operator, command.request, at);
    });
    return at;
  };
  const body = async (name: string) => {
    const lines = (await readFile(path(name), "utf8")).split("\n");
    return lines.slice(lines.findIndex((line) => line.startsWith('{"section"'))).join("\n");
  };

  test("an export goes into a file, packed where asked for, and to standard output", async () => {
    const { said } = await run(source, "export", "org", "--ndjson", "--out", path("org.ndjson"));
    expect(said.at(-1)).toMatch(/^\d+ rows exported to /);
    await run(source, "export", "org", "--out", path("org.json"));
    await run(source, "export", "org", "--ndjson", "--gzip", "--out", path("org.ndjson.gz"));
    const packed = gunzipSync(await readFile(path("org.ndjson.gz"))).toString();
    expect(packed).toContain(`"value":${VALUE}`);
    const { out } = await run(source, "export", "user", "web:1");
    expect(JSON.parse(out()).sections.entries).toHaveLength(1);
    expect((await readdir(directory)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("what the server refuses leaves no file", async () => {
    const refused = run(source, "export", "user", "web:9", "--out", path("nobody.json"));
    await expect(refused).rejects.toThrow(/^no such person|nobody|unknown/i);
    expect(await readdir(directory)).not.toContain("nobody.json");
  });

  test("any form of it restores the same, once", async () => {
    const dry = await run(target, "import", "souvenir", path("org.json"), "--dry-run");
    expect(dry.out()).toContain("Dry run, nothing was written.");
    const first = await run(target, "import", "souvenir", path("org.json"));
    expect(first.out()).toMatch(/users: 1 new\n/);
    for (const form of ["org.ndjson", "org.ndjson.gz"]) {
      const again = await run(target, "import", "souvenir", path(form));
      expect(again.out()).not.toMatch(/ new|refused/);
    }
    await run(target, "export", "org", "--ndjson", "--out", path("copy.ndjson"));
    expect(await body("copy.ndjson")).toBe(await body("org.ndjson"));
  });

  test("a file that was cut is imported up to there, and said to be cut", async () => {
    const text = await readFile(path("org.ndjson"), "utf8");
    await writeFile(path("cut.ndjson"), text.slice(0, text.lastIndexOf('{"totals"')));
    await expect(run(target, "import", "souvenir", path("cut.ndjson"))).rejects.toThrow(
      "it ends before its totals: it was cut.",
    );
    await writeFile(path("short.ndjson"), text.replace(/\{"section":"entries".*\n/, ""));
    await expect(run(target, "import", "souvenir", path("short.ndjson"))).rejects.toThrow(
      "entries: the file has 0 rows and says it had 1.",
    );
  });
});

describe("the reader of exports", () => {
  const read = async (text: string, size = text.length) => {
    async function* chunks() {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const lines: string[] = [];
    for await (const line of readSouvenir(chunks())) lines.push(line.text);
    return lines;
  };
  const header = { format: "souvenir-export", version: 1, org: { name: 'a "b" } ] é' } };
  const rows = [
    { id: "1", v: [1, { "}": "]," }] },
    { id: "2", v: "\\" },
  ];
  const document = {
    ...header,
    listed: { keys: [], operations: [rows[1]] },
    sections: { users: rows, links: [] },
    totals: { users: 2 },
  };
  const stream = [
    header,
    { listed: "operations", row: rows[1] },
    { section: "users", row: rows[0] },
    { section: "users", row: rows[1] },
    { totals: { users: 2 } },
  ];

  test.each([
    ["as the server lays it out", JSON.stringify(document)],
    ["indented", JSON.stringify(document, null, 2)],
    ["line by line", stream.map((line) => `${JSON.stringify(line)}\n`).join("")],
    [
      "with the line ends of another system",
      `${stream.map((l) => JSON.stringify(l)).join("\r\n")}`,
    ],
  ])("reads a document %s, wherever its chunks end", async (_how, text) => {
    for (const size of [1, 7, 1000]) {
      const lines = await read(text, size);
      expect(lines.map((line) => JSON.parse(line))).toEqual(stream);
    }
  });

  test.each([
    ["nothing", "", "it is no export of Souvenir."],
    ["another document", '{"a":1}', "it is no export of Souvenir."],
    ["another stream", '{"type":"entity"}\n{"type":"entity"}\n', "it is no export of Souvenir."],
    ["a document that was cut", JSON.stringify(document).slice(0, -30), "cut"],
  ])("refuses %s", async (_what, text, reason) => {
    await expect(read(text)).rejects.toThrow(reason);
  });
});
