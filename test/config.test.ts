import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Config, readConfig, VARIABLES } from "../src/config.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** The message of a refused environment. */
function refusal(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    return (error as Error).message;
  }
  return "accepted";
}

test(".env.example names every variable that is read, with its real default", () => {
  const shown = [...read(".env.example").matchAll(/^# ([A-Z][A-Z0-9_]+)=(.*)$/gm)];
  const composeOnly = [...read("docker-compose.yml").matchAll(/\$\{([A-Z0-9_]+)/g)]
    .map(([, name]) => name as string)
    .filter((name) => !VARIABLES.includes(name));
  expect(shown.map(([, name]) => name).sort()).toEqual(
    [...new Set([...VARIABLES, ...composeOnly])].sort(),
  );

  const defaults = readConfig({});
  for (const [, name, value] of shown) {
    const variable = name as keyof Config;
    if (composeOnly.includes(variable)) expect(value).toBe("");
    else if (value === "") expect(defaults[variable] ?? []).toEqual([]);
    else expect(readConfig({ [variable]: value as string })[variable]).toEqual(defaults[variable]);
  }
});

test(".env.example explains each variable on the lines before it", () => {
  const lines = read(".env.example").split("\n");
  const unexplained = lines.filter(
    (line, index) =>
      /^# [A-Z][A-Z0-9_]+=/.test(line) && !/^# .*[a-z]{3}/.test(lines[index - 1] as string),
  );
  expect(unexplained).toEqual([]);
});

test("an empty variable counts as unset, as compose files write it", () => {
  const empty = Object.fromEntries(VARIABLES.map((name) => [name, ""]));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

test("every fault is listed at once, without its value", () => {
  const message = refusal({
    AUTH: "none",
    HOST: "0.0.0.0",
    PORT: "quokka",
    OWNER_KEY: "quokka",
    DEFAULT_ORG: "Quokka!",
    LOG_LEVEL: "quokka",
  });
  for (const name of ["AUTH", "PORT", "OWNER_KEY", "DEFAULT_ORG", "LOG_LEVEL"]) {
    expect(message).toMatch(new RegExp(`^  ${name}: `, "m"));
  }
  expect(message).not.toMatch(/quokka/i);
});

test.each(["", " ", "0x50", "1e3", "-1", "3000.5", "65536"])("%j is no port", (PORT) => {
  if (PORT === "") expect(readConfig({ PORT }).PORT).toBe(3000);
  else expect(refusal({ PORT })).toContain("PORT: ");
});

test("access without keys is for loopback addresses alone", () => {
  for (const HOST of ["127.0.0.1", "::1", "localhost"]) {
    expect(readConfig({ AUTH: "none", HOST }).AUTH).toBe("none");
  }
  for (const HOST of ["0.0.0.0", "::", "192.168.1.5", "memory.example.com"]) {
    expect(refusal({ AUTH: "none", HOST })).toContain("AUTH: none is allowed only");
  }
});

test("a key that no header can carry is refused rather than lock its owner out", () => {
  const long = "k".repeat(40);
  expect(readConfig({ OWNER_KEY: long }).OWNER_KEY).toBe(long);
  for (const character of [" ", ",", "é", "\n"]) {
    expect(refusal({ OWNER_KEY: long + character })).toContain("OWNER_KEY: ");
  }
});

test("clients may use the address that the server listens on, and the names that the operator gives", () => {
  const ALLOWED_HOSTS = "memory.example.com, [fd00::1]";
  expect(readConfig({ ALLOWED_HOSTS, HOST: "192.168.1.5" }).ALLOWED_HOSTS).toEqual([
    "memory.example.com",
    "[fd00::1]",
    "192.168.1.5",
  ]);
  expect(readConfig({ HOST: "fd00::2" }).ALLOWED_HOSTS).toEqual(["[fd00::2]"]);
  expect(readConfig({ HOST: "0.0.0.0" }).ALLOWED_HOSTS).toEqual([]);
  for (const host of ["https://memory.example.com", "memory.example.com:443", "a/b", "a,,b"]) {
    expect(refusal({ ALLOWED_HOSTS: host })).toContain("ALLOWED_HOSTS");
  }
});

test("facts are consolidated when a cron pattern says, one that comes round", () => {
  for (const pattern of ["0 3 * * *", "*/30 * * * *", "0 0 4 * * MON", "@daily"]) {
    expect(readConfig({ CONSOLIDATE_CRON: pattern }).CONSOLIDATE_CRON).toBe(pattern);
  }
  for (const pattern of ["daily", "60 * * * *", "0 3 * *", "0 0 30 2 *", "2030-01-01T00:00:00"]) {
    expect(refusal({ CONSOLIDATE_CRON: pattern })).toContain("CONSOLIDATE_CRON: a cron pattern");
  }
});

test("an index at Upstash needs its address and its token, and both faults are listed", () => {
  const message = refusal({ VECTOR_INDEX: "upstash", UPSTASH_VECTOR_REST_TOKEN: "quokka token" });
  expect(message).toContain("  UPSTASH_VECTOR_REST_URL: VECTOR_INDEX=upstash needs it");
  expect(message).toMatch(/^ {2}UPSTASH_VECTOR_REST_TOKEN: ASCII without spaces$/m);
  expect(message).not.toContain("quokka");
  const url = { UPSTASH_VECTOR_REST_URL: "https://index.example.com" };
  expect(refusal({ VECTOR_INDEX: "upstash", ...url })).toContain("UPSTASH_VECTOR_REST_TOKEN: ");
  const config = readConfig({ VECTOR_INDEX: "upstash", ...url, UPSTASH_VECTOR_REST_TOKEN: "t" });
  expect(config.VECTOR_INDEX).toBe("upstash");
});

test("an embedding provider needs a key, or the address of a server without keys", () => {
  const EMBEDDER = "openai";
  expect(refusal({ EMBEDDER })).toContain("EMBEDDER: openai needs OPENAI_API_KEY, or");
  expect(readConfig({ EMBEDDER, OPENAI_API_KEY: "sk-1" }).EMBEDDER).toBe(EMBEDDER);
  const OPENAI_BASE_URL = "http://127.0.0.1:11434/v1";
  expect(readConfig({ EMBEDDER, OPENAI_BASE_URL }).OPENAI_API_KEY).toBeUndefined();
});

test("a key alone sends no text to a provider: the embedder has to be chosen", () => {
  expect(readConfig({ OPENAI_API_KEY: "sk-1" }).EMBEDDER).toBe("local");
});

test("faults of an embedding provider's settings are told without their values", () => {
  const message = refusal({
    EMBEDDER: "quokka",
    EMBEDDING_DIMENSIONS: "0",
    OPENAI_API_KEY: "quokka key",
    OPENAI_BASE_URL: "quokka",
  });
  for (const name of ["EMBEDDER", "EMBEDDING_DIMENSIONS", "OPENAI_API_KEY", "OPENAI_BASE_URL"]) {
    expect(message).toMatch(new RegExp(`^  ${name}: `, "m"));
  }
  expect(message).not.toContain("quokka");
});

test.each([
  "postgres://u:p%25w@h:5432/d",
  "postgresql://u:p@w@h/d",
  "postgres://u:p,w@h/d",
  "postgres://u:p@one:5432,two:5433/d?target_session_attrs=primary",
  "postgres://one,two/d",
  "postgres://h/d?sslmode=require&options=-csearch_path%3Dx",
  "postgres://u@[::1]:5432/d",
  "postgres:///d",
])("%s is a database", (url) => {
  expect(readConfig({ DATABASE_URL: url }).DATABASE_URL).toBe(url);
});

test.each([
  ["postgres://u:p%w@h/d", "percent-encode"],
  ["postgres://u:p#w@h/d", "percent-encode"],
  ["postgres://u:p/w@h/d", "percent-encode"],
  ["postgres://u:p?w@h/d", "percent-encode"],
  ["postgres://u:p%FFw@h/d", "percent-encode"],
  ["mysql://u:p@h/d", "must start with postgres://"],
  ["postgres://u:p@%2Fvar%2Frun%2Fpostgresql/d", "set PGHOST"],
  ["postgres:///d?host=/var/run/postgresql", "set PGHOST"],
  // Read as a port, and the rest as what follows it: no part of a password may come out.
  ["postgres://u:12?quokka@h/d", "percent-encode"],
  ["postgres://u:12#quokka@h/d", "percent-encode"],
  ["postgres://u:12/quokka@h/d", "percent-encode"],
  ["postgres://h/d?schema=shop", "the parameter schema: write options=-csearch_path%3Dname"],
  ["postgres://h/d?channel_binding=require", "the parameter channel_binding: take it out"],
  ["postgres://h/d?connection_limit=5", "the parameter connection_limit: take it out"],
  ["postgres://h/d?sslrootcert=/ca.pem", "NODE_EXTRA_CA_CERTS"],
  ["postgres://h/d?statement_timeout=5", "the parameter statement_timeout: take it out"],
  ["postgres://h/d?sslmode=no-verify", "the parameter sslmode: must be one of disable, allow"],
])("%s is refused with what to do", (url, advice) => {
  const message = refusal({ DATABASE_URL: url });
  expect(message).toMatch(/^ {2}DATABASE_URL: /m);
  expect(message).toContain(advice);
  expect(message).not.toContain("quokka");
});

test("what other programs write into a database's URL and what means nothing here is left out", () => {
  const rest = "application_name=shop&sslmode=require";
  const url = `  postgres://u@one,two/d?pgbouncer=true&${rest}&channel_binding=prefer&connect_timeout=10\n`;
  expect(readConfig({ DATABASE_URL: url }).DATABASE_URL).toBe(`postgres://u@one,two/d?${rest}`);
  const bare = "postgres://h/d";
  expect(readConfig({ DATABASE_URL: `${bare}?pgbouncer=true` }).DATABASE_URL).toBe(bare);
});

test("what is of no use alone is asked for, and a signing secret must be one", () => {
  const url = { AGENT_WEBHOOK_URL: "http://127.0.0.1:4000/souvenir" };
  expect(refusal(url)).toContain("  AGENT_WEBHOOK_SECRET: AGENT_WEBHOOK_URL needs it");
  expect(refusal({ ...url, AGENT_WEBHOOK_SECRET: "quokka" })).toContain("  AGENT_WEBHOOK_SECRET: ");
  const AGENT_WEBHOOK_SECRET = `whsec_${"q".repeat(43)}=`;
  expect(readConfig({ ...url, AGENT_WEBHOOK_SECRET })).toMatchObject({
    ...url,
    AGENT_WEBHOOK_SECRET,
  });
  expect(refusal({ WHATSAPP_APP_SECRET: "s" })).toContain("  WHATSAPP_VERIFY_TOKEN: ");
  expect(refusal({ WHATSAPP_VERIFY_TOKEN: "s" })).toContain("  WHATSAPP_APP_SECRET: ");
});
