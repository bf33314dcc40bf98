import { parseArgs } from "node:util";
import { readConfig } from "../config.ts";
import { type Answer, connect, type Operator } from "./operator.ts";
import { explain } from "./reason.ts";
import { serve } from "./serve.ts";

const USAGE = `Usage: npm run souvenir -- <command>

  serve                                        run the server (what npm start does)
  keys create --name NAME [--role member|admin|owner] [--agent AGENT]
              [--pin-user USERID] [--pin-store STORE] [--pin-agent AGENT]
  keys list
  keys revoke ID
  orgs create SLUG [--name NAME]
  orgs list
  stores create SLUG [--name NAME]
  stores list
  channels add telegram ACCOUNT --secret-variable VARIABLE [--store STORE]
  channels list
  channels remove telegram ACCOUNT

Every command but serve and orgs takes --org SLUG (default: DEFAULT_ORG). While a server runs on the embedded
database, the command is sent to it.
`;

const OPTIONS = {
  org: { type: "string" },
  name: { type: "string" },
  role: { type: "string" },
  agent: { type: "string" },
  "pin-user": { type: "string" },
  "pin-store": { type: "string" },
  "pin-agent": { type: "string" },
  "secret-variable": { type: "string" },
  store: { type: "string" },
  help: { type: "boolean" },
} as const;

class UsageError extends Error {}

type Flags = ReturnType<
  typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>
>["values"];

function command(words: readonly string[], flags: Flags): Parameters<Operator["request"]> {
  const [noun, verb, first, second, ...rest] = words;
  const expected = noun === "channels" && verb !== "list" ? second : first;
  const last = noun === "channels" && verb !== "list" ? undefined : second;
  if (rest.length > 0 || last !== undefined) throw new UsageError("too many words");
  const needed = (value: string | undefined, what: string): string => {
    if (value === undefined) throw new UsageError(`${what} is missing`);
    return value;
  };
  switch (`${noun} ${verb}`) {
    case "keys list":
    case "orgs list":
    case "stores list":
    case "channels list":
      return ["GET", `/v1/${noun}`];
    case "keys create":
      return [
        "POST",
        "/v1/keys",
        {
          name: needed(flags.name, "--name"),
          role: flags.role,
          defaultAgent: flags.agent,
          pinUserId: flags["pin-user"],
          pinStoreId: flags["pin-store"],
          pinAgentId: flags["pin-agent"],
        },
      ];
    case "keys revoke":
      return ["DELETE", `/v1/keys/${encodeURIComponent(needed(expected, "the key's id"))}`];
    case "orgs create":
    case "stores create":
      return ["POST", `/v1/${noun}`, { slug: needed(expected, "the slug"), name: flags.name }];
    case "channels add":
      return [
        "POST",
        "/v1/channels",
        {
          channel: needed(first, "the channel"),
          account: needed(expected, "the account"),
          secretVariable: needed(flags["secret-variable"], "--secret-variable"),
          storeId: flags.store,
        },
      ];
    case "channels remove": {
      const path = [needed(first, "the channel"), needed(expected, "the account")];
      return ["DELETE", `/v1/channels/${path.map(encodeURIComponent).join("/")}`];
    }
    default:
      throw new UsageError(`unknown command: ${words.join(" ")}`);
  }
}

function print({ status, body }: Answer): void {
  if (status >= 400) {
    const { detail, hint } = body as { detail?: string; hint?: string };
    throw new Error([detail ?? `the server answered ${status}`, hint].filter(Boolean).join(" "));
  }
  if (status !== 204) process.stdout.write(`${JSON.stringify(body, null, 2)}\n`);
  if (typeof body.key === "string") {
    process.stderr.write("The key is shown only this once. Keep it safe.\n");
  }
}

async function main(args: string[]): Promise<void> {
  const { values: flags, positionals } = parseArgs({
    args,
    options: OPTIONS,
    allowPositionals: true,
  });
  if (flags.help || positionals.length === 0) {
    process.stdout.write(USAGE);
    return;
  }
  if (positionals[0] === "serve") return serve(process.env);
  const request = command(positionals, flags);
  const operator = await connect(readConfig(process.env), flags.org);
  try {
    print(await operator.request(...request));
  } finally {
    await operator.close();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  if (error instanceof UsageError) process.stderr.write(`\n${USAGE}`);
  process.exitCode = 1;
}
