import { isIPv6 } from "node:net";
import { Cron } from "croner";
import { z } from "zod";
import { isSigningSecret } from "./channels/standard-webhooks.ts";
import { databaseUrlFault, withoutDropped } from "./database-url.ts";

const text = z.string().trim().min(1);
/** Digits only: Number() reads a blank as 0 and "0x50" as 80. */
const integer = z
  .string()
  .regex(/^\s*\d{1,9}\s*$/, "must be a whole number")
  .transform(Number);
const hosts = z
  .string()
  .transform((value) => value.split(",").map((part) => part.trim()))
  .pipe(
    z.array(
      z
        .string()
        .regex(/^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/, "host names without scheme, port or path"),
    ),
  );
const flag = z.enum(["true", "false"]).transform((value) => value === "true");
const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, _ and -, at most 63");
const apiKey = z.string().regex(/^[!-~]{1,512}$/, "ASCII without spaces");

const signingSecret = z
  .string()
  .refine(
    isSigningSecret,
    "whsec_ and 24 to 64 random bytes in base64, as Standard Webhooks has it",
  );

const cron = z
  .string()
  .refine(hasRuns, "a cron pattern in UTC, e.g. 0 3 * * * for every day at three o'clock");

const Env = z.object({
  HOST: text.default("127.0.0.1"),
  PORT: integer.pipe(z.number().max(65_535)).default(3000),
  DATA_DIR: text.default("./data"),
  DATABASE_URL: z
    .string()
    .trim()
    .superRefine(checkDatabaseUrl)
    .transform(withoutDropped)
    .optional(),
  // What no Authorization header can carry would lock the owner out.
  OWNER_KEY: z
    .string()
    .regex(/^[!-+\--~]{32,256}$/, "32 to 256 random characters, ASCII, no space, no comma")
    .optional(),
  AUTH: z.enum(["keys", "none"]).default("keys"),
  ALLOWED_HOSTS: hosts.default([]),
  DEFAULT_ORG: slug.default("default"),
  DEFAULT_AGENT: slug.default("atlas"),
  DEFAULT_CHANNEL: slug.default("telegram"),
  RATE_LIMIT_PER_MINUTE: integer.default(6000),
  TELEGRAM_WEBHOOK_SECRET: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,256}$/, "1 to 256 of A-Z a-z 0-9 _ -")
    .optional(),
  TELEGRAM_AUTO_APPROVE: flag.default(false),
  TELEGRAM_BOT_TOKEN: z
    .string()
    .regex(/^\d{1,20}:[A-Za-z0-9_-]{1,100}$/, "the bot's token as BotFather gave it")
    .optional(),
  TELEGRAM_API_ROOT: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .default("https://api.telegram.org"),
  WHATSAPP_APP_SECRET: apiKey.optional(),
  WHATSAPP_VERIFY_TOKEN: apiKey.optional(),
  AGENT_WEBHOOK_URL: z.url({ protocol: /^https?$/ }).optional(),
  AGENT_WEBHOOK_SECRET: signingSecret.optional(),
  MESSAGES_SECRET: signingSecret.optional(),
  LINK_SECRET: signingSecret.optional(),
  CHAT_RETENTION_DAYS: integer.pipe(z.number().positive()).optional(),
  CONSOLIDATE_CRON: cron.default("0 3 * * *"),
  SCRUB_CRON: cron.default("23 3 * * *"),
  ANTHROPIC_API_KEY: apiKey.optional(),
  ANTHROPIC_BASE_URL: z.url({ protocol: /^https?$/ }).default("https://api.anthropic.com"),
  EXTRACTION_MODEL: text.default("claude-haiku-5-5"),
  EXTRACTION_DAILY_LIMIT: integer.default(2000),
  EMBEDDER: z.enum(["local", "openai", "none"]).default("local"),
  EMBEDDING_MODEL: text.default("text-embedding-3-small"),
  EMBEDDING_DIMENSIONS: integer.pipe(z.number().min(2).max(16_000)).optional(),
  OPENAI_API_KEY: apiKey.optional(),
  OPENAI_BASE_URL: z.url({ protocol: /^https?$/ }).default("https://api.openai.com/v1"),
  VECTOR_INDEX: z.enum(["postgres", "upstash"]).default("postgres"),
  UPSTASH_VECTOR_REST_URL: z.url({ protocol: /^https?$/ }).optional(),
  UPSTASH_VECTOR_REST_TOKEN: apiKey.optional(),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
});

export type Config = Readonly<z.output<typeof Env>>;

/** The names of every variable that the server reads. */
export const VARIABLES = Object.keys(Env.shape);

/**
 * Reads the environment. An empty variable counts as unset, as compose files write it.
 *
 * @throws one error that lists every fault, without any value
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const set = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = Env.safeParse(set);
  const issues = parsed.error?.issues ?? [];
  const faults = issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  if (set.AUTH === "none" && !isLoopback(set.HOST)) {
    faults.push("  AUTH: none is allowed only while HOST is a loopback address");
  }
  if (set.EMBEDDER === "openai" && !set.OPENAI_API_KEY && !set.OPENAI_BASE_URL) {
    faults.push(
      "  EMBEDDER: openai needs OPENAI_API_KEY, or OPENAI_BASE_URL of a server without keys",
    );
  }
  faults.push(...unpaired(set, "AGENT_WEBHOOK_URL", "AGENT_WEBHOOK_SECRET"));
  faults.push(...unpaired(set, "WHATSAPP_APP_SECRET", "WHATSAPP_VERIFY_TOKEN"));
  if (set.VECTOR_INDEX === "upstash") {
    const needed = ["UPSTASH_VECTOR_REST_URL", "UPSTASH_VECTOR_REST_TOKEN"];
    const missing = needed.filter((name) => set[name] === undefined);
    faults.push(...missing.map((name) => `  ${name}: VECTOR_INDEX=upstash needs it`));
  }
  if (!parsed.success || faults.length > 0) {
    throw new Error(`invalid environment\n${faults.join("\n")}`);
  }
  const config = parsed.data;
  // A client that was given our own address must be let in by it.
  return Object.freeze({
    ...config,
    ALLOWED_HOSTS: [...config.ALLOWED_HOSTS, ...ownHost(config.HOST)],
  });
}

/** False for what croner cannot read, for what never comes round (30 February), and for a date, which it takes too. */
function hasRuns(pattern: string): boolean {
  try {
    return new Cron(pattern, { timezone: "UTC" }).nextRuns(2, new Date(0)).length === 2;
  } catch {
    return false;
  }
}

function isLoopback(host = "127.0.0.1"): boolean {
  return ["127.0.0.1", "::1", "localhost"].includes(host);
}

/** Two variables of which neither is of use without the other. */
function unpaired(set: Record<string, string | undefined>, one: string, other: string): string[] {
  if (Boolean(set[one]) === Boolean(set[other])) return [];
  const [there, missing] = set[one] ? [one, other] : [other, one];
  return [`  ${missing}: ${there} needs it`];
}

function ownHost(host: string): string[] {
  if (isLoopback(host) || host === "0.0.0.0" || host === "::") return [];
  return [isIPv6(host) ? `[${host}]` : host];
}

function checkDatabaseUrl(value: string, context: z.RefinementCtx): void {
  const fault = databaseUrlFault(value);
  if (fault) context.addIssue({ code: "custom", message: fault });
}
