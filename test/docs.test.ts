import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const documents = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];
const read = (file: string) => readFileSync(join(root, file), "utf8");

test("every link between documents leads somewhere", () => {
  const dead = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
      .map((match) => relative(root, join(root, dirname(file), match[1] as string)))
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${file} links to ${target}`),
  );
  expect(dead).toEqual([]);
});

test("every source path that a document names exists", () => {
  const dead = documents.flatMap((file) =>
    [...read(file).matchAll(/`((?:src|test|docs|migrations|bench)\/[\w./-]+)`/g)]
      .map((match) => match[1] as string)
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${file} names ${path}`),
  );
  expect(dead).toEqual([]);
});

test("decision records are numbered without a gap, each with its date and status", () => {
  const records = readdirSync(join(root, "docs/decisions")).sort();
  records.forEach((record, i) => {
    expect(record).toMatch(new RegExp(`^${String(i + 1).padStart(4, "0")}-[a-z0-9-]+\\.md$`));
    expect(read(join("docs/decisions", record))).toMatch(/Date: \d{4}-\d\d-\d\d[\s\S]*Status: /);
  });
});
