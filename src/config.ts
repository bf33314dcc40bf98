import { z } from "zod";

const LOOPBACK_HOSTS = ["127.0.0.1", "::1", "localhost"];

const text = z.string().trim().min(1);
const list = z
  .string()
  .transform((value) => value.split(",").map((part) => part.trim()))
  .pipe(z.array(text));
const flag = z.enum(["true", "false"]).transform((value) => value === "true");
const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, _ and -, at most 63");

const Env = z
  .object({
    HOST: text.default("127.0.0.1"),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
    DATA_DIR: text.default("./data"),
    DATABASE_URL: z.string().superRefine(checkDatabaseUrl).optional(),
    OWNER_KEY: z.string().min(32, "at least 32 characters, random").max(256).optional(),
    AUTH: z.enum(["keys", "none"]).default("keys"),
    ALLOWED_HOSTS: list.default([]),
    DEFAULT_ORG: slug.default("default"),
    DEFAULT_AGENT: slug.default("atlas"),
    DEFAULT_CHANNEL: slug.default("telegram"),
    RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(0).default(6000),
    TELEGRAM_WEBHOOK_SECRET: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,256}$/, "1 to 256 of A-Z a-z 0-9 _ -")
      .optional(),
    TELEGRAM_AUTO_APPROVE: flag.default(false),
    CHAT_RETENTION_DAYS: z.coerce.number().int().positive().optional(),
    LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
  })
  .superRefine((env, context) => {
    if (env.AUTH === "none" && !LOOPBACK_HOSTS.includes(env.HOST)) {
      context.addIssue({
        code: "custom",
        path: ["AUTH"],
        message: "none is allowed only while HOST is a loopback address",
      });
    }
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
  const set = Object.entries(env).filter(([, value]) => value !== undefined && value !== "");
  const parsed = Env.safeParse(Object.fromEntries(set));
  if (parsed.success) return Object.freeze(parsed.data);
  const faults = parsed.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`invalid environment\n${faults.join("\n")}`);
}

function checkDatabaseUrl(value: string, context: z.RefinementCtx): void {
  const fault = databaseUrlFault(value);
  if (fault) context.addIssue({ code: "custom", message: fault });
}

function databaseUrlFault(value: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(value)) return "must start with postgres:// or postgresql://";
  try {
    const url = new URL(value);
    for (const part of [url.username, url.password, url.pathname, url.host]) {
      decodeURIComponent(part);
    }
    return undefined;
  } catch {
    return "percent-encode special characters of the user name and password (% as %25, # as %23, / as %2F, @ as %40)";
  }
}
