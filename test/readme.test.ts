import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "..");
const readme = await readFile(join(root, "README.md"), "utf8");

/** The lines of the shell blocks, in order. */
const commands = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) =>
  (block as string).trim().split("\n"),
);

/** Runs one command of the README as a person would, in the repository's root. */
function shell(command: string, env: Record<string, string>) {
  const child = spawn("sh", ["-c", `exec ${command}`], {
    cwd: root,
    env: { ...process.env, CI: "", ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  return { child, output: () => output };
}

test("the README names two commands first: one runs the server, one runs the tests", () => {
  expect(commands.slice(0, 2)).toEqual(["npm ci && npm start", "npm ci && npm test"]);
});

test("npm start shows what the README shows, and the README's key commands work beside it", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "souvenir-readme-"));
  const env = { DATA_DIR: dataDir, PORT: "0", DATABASE_URL: "", OWNER_KEY: "" };
  // `npm ci` would replace the node_modules that this test runs on; a clean clone runs it first.
  const start = (commands[0] as string).replace("npm ci && ", "");
  const server = shell(start, env);
  await expect.poll(server.output, { timeout: 60_000 }).toMatch(/claude mcp add .*\n/);

  const shown = (text: string) =>
    text
      .replaceAll(/svr_[A-Za-z0-9_…-]+/g, "svr_…")
      .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:3000")
      .replaceAll(dataDir, "./data");
  const example = /```\n(Souvenir [\s\S]*?)```/.exec(readme)?.[1] as string;
  expect(shown(server.output())).toContain(example.trim());

  for (const command of commands.filter((line) => line.startsWith("npm run souvenir"))) {
    const { child, output } = shell(command, env);
    const [code] = await once(child, "exit");
    expect(`${command} exits ${code}\n${code === 0 ? "" : output()}`).toBe(`${command} exits 0\n`);
  }
  // A supervisor knows npm alone, and a shell between npm and the server would keep the signal to itself.
  const [url] = /http:\/\/127[^ ]+/.exec(server.output()) ?? [];
  server.child.kill("SIGTERM");
  const [code] = await once(server.child, "close");
  expect(code).toBe(0);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  await rm(dataDir, { recursive: true, force: true });
});

test("what runs after an installation fails none, not even where only the manifest was copied", async () => {
  const folder = await mkdtemp(join(tmpdir(), "souvenir-manifest-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await copyFile(join(root, "package.json"), join(folder, "package.json"));
  const child = spawn("npm", ["run", "--silent", "postinstall"], { cwd: folder });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const [code] = await once(child, "close");
  expect([code, output]).toEqual([0, ""]);
});

test("every npm script that the documents name exists", async () => {
  const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const named = await Promise.all(
    ["README.md", "CONTRIBUTING.md", "AGENTS.md", "docs/operations.md", "docs/benchmarks.md"].map(
      async (file) =>
        (await readFile(join(root, file), "utf8")).matchAll(/npm run (?:-s )?([a-z:-]+)/g),
    ),
  );
  const missing = named
    .flatMap((matches) => [...matches].map((match) => match[1] as string))
    .filter((name) => !(name in scripts));
  expect(missing).toEqual([]);
});
