import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const BENCH = fileURLToPath(new URL("../../bench/bench.ts", import.meta.url));

function bench(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [BENCH, ...args], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

test("a benchmark that does not exist is refused, and the known ones are named", async () => {
  const { code, stdout, stderr } = await bench("speed");
  expect(code).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/unknown benchmark "speed": there are throughput and history/);
});

test.each([
  ["an unknown database", ["history", "--db", "mysql"], /--db takes pglite or postgres/],
  ["no rows", ["history", "--rows", "0"], /--rows takes numbers above 0/],
  ["an unknown flag", ["history", "--fast"], /Unknown option '--fast'/],
  ["no name", [], /name one benchmark/],
])("%s is refused before anything is measured", async (_name, args, reason) => {
  const { code, stderr } = await bench(...args);
  expect(code).toBe(1);
  expect(stderr).toMatch(reason);
  expect(stderr).not.toContain("    at ");
});

test("history prints a table for people, and its figures as JSON on the last line", {
  timeout: 120_000,
}, async () => {
  const flags = ["--db", "pglite", "--rows", "1000", "--seconds", "0.01", "--json"];
  const { code, stdout, stderr } = await bench("history", ...flags);
  expect(code, stderr).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(stdout).toMatch(/^\| newest +\| +1,000 \|/m);
  const { benchmark, machine, results } = JSON.parse(lines.at(-1) ?? "");
  expect(benchmark).toBe("history");
  expect(machine.node).toBe(process.version);
  expect(results).toHaveLength(1);
  expect(results[0].engine).toBe("pglite");
  expect(results[0].lines).toEqual([
    expect.objectContaining({ page: "newest", rows: 1000 }),
    expect.objectContaining({ page: "by cursor, in the middle", rows: 1000 }),
  ]);
});
