import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const SHARED = String.raw`(?:errors|clock|instant|uuid|canonical-json|json-faults|json-scan|nesting|sql-array|page)\.ts`;
const DOMAIN =
  "(?:access|orgs|users|audit|rules|links|channels|kv|chat|turns|facts|recall|search|overview|erasure|idempotency|export)";
const TRANSPORT = "(?:mcp|telegram|whatsapp|http|ui)";
const REPOSITORY_FILE = String.raw`(?:[a-z-]+-)?repository\.ts`;
const REPOSITORY = `${DOMAIN}/${REPOSITORY_FILE}`;
/** A domain's words and pure rules, and its service: everything but what speaks to the database. */
const OPEN = String.raw`${DOMAIN}/(?!${REPOSITORY_FILE}|jobs\.ts)[^/]+\.ts`;

/** What a domain may know of jobs: to queue one, to answer for one. */
const QUEUE = String.raw`jobs/(?:queue|handler|retry-later)\.ts`;
/** The ports' interfaces; app.ts alone knows the implementations. */
const PORTS = String.raw`(?:llm/extractor|embeddings/embedder|vectors/index)\.ts`;

/**
 * The one-way flow, as data: transport, service, repository, database. The first row that names a file decides what it
 * may import; types count, because a type is a dependency too. A place that no row names fails until it is added here.
 */
const MAY_IMPORT: readonly [file: string, imports: readonly string[]][] = [
  ["main.ts", [String.raw`cli/serve\.ts`]],
  // The server's process opens the embedded database before it loads the rest.
  [
    "cli/.+",
    [
      String.raw`(?:app|config|version|db/embedded/embedded)\.ts`,
      String.raw`import/(?:telegram|telegram-message|server-memory|souvenir|souvenir-document)\.ts`,
      "cli/.+",
    ],
  ],
  // Readers of other programs' files; what a Telegram message may keep is the same in an export.
  ["import/.+", [SHARED, OPEN, "import/.+", String.raw`telegram/(?:payload|speaker)\.ts`]],
  [
    String.raw`(?:app|(?:(?:search|link|channel|import|export|sending|review|erasure)-)?services)\.ts`,
    [".+"],
  ],
  [
    String.raw`startup\.ts`,
    [SHARED, String.raw`config\.ts`, "db/.+", String.raw`${DOMAIN}/service\.ts`],
  ],
  [String.raw`config\.ts`, [String.raw`(?:database-url|channels/standard-webhooks)\.ts`]],
  [
    String.raw`(?:database-url|clock|version|errors|instant|uuid|canonical-json|nesting|sql-array)\.ts`,
    [],
  ],
  [String.raw`json-(?:faults|scan)\.ts`, [String.raw`json-scan\.ts`]],
  [String.raw`page\.ts`, [String.raw`uuid\.ts`]],
  [String.raw`json-(?:faults|scan)\.ts`, [String.raw`json-scan\.ts`]],
  [String.raw`db/client\.ts`, [SHARED, String.raw`database-url\.ts`, "db/.+"]],
  [String.raw`db/maintenance\.ts`, ["db/.+", "jobs/.+"]],
  ["db/.+", [SHARED, "db/.+"]],
  // The one place in jobs/ that knows who is calling.
  [
    String.raw`jobs/service\.ts`,
    [
      SHARED,
      "jobs/.+",
      String.raw`db/tenant\.ts`,
      String.raw`(?:access/principal|audit/service)\.ts`,
    ],
  ],
  ["jobs/.+", [SHARED, "jobs/.+", String.raw`db/(?:tenant|schema/.+)\.ts`]],
  // Assemblies that read over the tables of several domains.
  [
    String.raw`(?:users/context|(?:recall|overview)/repository)\.ts`,
    [SHARED, OPEN, String.raw`db/(?:tenant|schema/.+)\.ts`],
  ],
  // What it reads and writes is one table of tables.
  [
    `export/${REPOSITORY_FILE}`,
    [
      SHARED,
      OPEN,
      String.raw`export/tables-repository\.ts`,
      String.raw`db/(?:tenant|schema/.+)\.ts`,
    ],
  ],
  [REPOSITORY, [SHARED, OPEN, String.raw`db/(?:tenant|schema/.+)\.ts`]],
  [
    String.raw`${DOMAIN}/jobs\.ts`,
    [SHARED, OPEN, "jobs/.+", String.raw`db/tenant\.ts`, REPOSITORY],
  ],
  [
    String.raw`${DOMAIN}/[^/]+\.ts`,
    [SHARED, OPEN, QUEUE, PORTS, String.raw`db/tenant\.ts`, REPOSITORY],
  ],
  ["llm/.+", [SHARED, "llm/.+"]],
  ["embeddings/.+", [SHARED, "embeddings/.+"]],
  [
    "vectors/.+",
    [
      SHARED,
      "vectors/.+",
      String.raw`db/(?:client|faults|tenant)\.ts`,
      String.raw`jobs/handler\.ts`,
    ],
  ],
  ["mcp/.+", [SHARED, OPEN, "mcp/.+"]],
  ["telegram/.+", [SHARED, OPEN, "telegram/.+"]],
  ["whatsapp/.+", [SHARED, OPEN, "whatsapp/.+"]],
  ["ui/.+", [SHARED, OPEN, String.raw`jobs/service\.ts`, "ui/.+"]],
  ["http/.+", [SHARED, String.raw`config\.ts`, OPEN, String.raw`jobs/service\.ts`, "http/.+"]],
];

const src = join(import.meta.dirname, "../src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);

const matches = (pattern: string, file: string) => new RegExp(`^${pattern}$`).test(file);

function read(file: string): string {
  return readFileSync(join(src, file), "utf8");
}

function importsOf(file: string): string[] {
  return [...read(file).matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
    .map((match) => relative(src, join(src, dirname(file), match[1] as string)))
    .filter((to) => !to.startsWith(".."));
}

test("every file belongs to a place that the table names", () => {
  const homeless = files.filter((file) => !MAY_IMPORT.some(([from]) => matches(from, file)));
  expect(homeless).toEqual([]);
});

test("every import flows one way: transport, service, repository, database", () => {
  const broken = files.flatMap((file) => {
    const [, allowed] = MAY_IMPORT.find(([from]) => matches(from, file)) ?? ["", []];
    return importsOf(file)
      .filter((to) => !allowed.some((pattern) => matches(pattern, to)))
      .map((to) => `${file} may not import ${to}`);
  });
  expect(broken).toEqual([]);
});

test("a domain reaches another domain's tables only through its service", () => {
  const broken = files.flatMap((file) =>
    importsOf(file)
      .filter(
        (to) =>
          matches(REPOSITORY, to) &&
          !/^(?:app|(?:(?:search|link|channel|import|export|sending|review|erasure)-)?services)\.ts$/.test(
            file,
          ),
      )
      .filter((to) => dirname(to) !== dirname(file))
      .map((to) => `${file} may not import ${to}`),
  );
  expect(broken).toEqual([]);
});

test("no transport imports another, and only transports import their libraries", () => {
  const broken = files.flatMap((file) => {
    const [home = ""] = file.split("/");
    const others = importsOf(file).filter(
      (to) =>
        matches(`${TRANSPORT}/.+`, file) &&
        matches(`${TRANSPORT}/.+`, to) &&
        !to.startsWith(`${home}/`),
    );
    const libraries = [
      ...read(file).matchAll(/from "((?:fastify|@modelcontextprotocol|grammy|marked)[^"]*)"/g),
    ]
      .map((match) => match[1] as string)
      .filter(() => !matches(`(?:${TRANSPORT}/.+|app\\.ts|startup\\.ts)`, file));
    return [...others, ...libraries].map((to) => `${file} may not import ${to}`);
  });
  expect(broken).toEqual([]);
});

test("only the database folder and repositories know Drizzle and the drivers", () => {
  const knows = files.filter((file) =>
    /from "(?:drizzle-orm|postgres|@electric-sql)[^"]*"/.test(read(file)),
  );
  const may = String.raw`(?:db/.+|vectors/.+|jobs/(?:queue|leases|repository)\.ts|users/context\.ts|${REPOSITORY})`;
  expect(knows.filter((file) => !matches(may, file))).toEqual([]);
});

test("services and transports do not read the environment or the system clock", () => {
  const reads = files.filter((file) => /process\.env|new Date\(\)|Date\.now\(\)/.test(read(file)));
  expect(reads.filter((file) => !matches(String.raw`(?:app|main|cli/.+)(?:\.ts)?`, file))).toEqual(
    [],
  );
});
