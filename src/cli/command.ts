import { parseArgs } from "node:util";
import { ERASE_OPTIONS, ERASE_VERBS, type EraseRequest, type EraseVerb } from "./erase-command.ts";
import {
  EXPORT_OPTIONS,
  EXPORT_VERBS,
  type ExportRequest,
  type ExportVerb,
} from "./export-command.ts";
import type { ImportRequest } from "./import.ts";
import { IMPORT_OPTIONS, IMPORT_VERBS, type ImportVerb } from "./import-command.ts";
import type { Operator } from "./operator.ts";
import { UsageError } from "./usage-error.ts";

const OPTIONS = {
  org: { type: "string" },
  name: { type: "string" },
  role: { type: "string" },
  agent: { type: "string" },
  "pin-user": { type: "string" },
  "pin-store": { type: "string" },
  "pin-agent": { type: "string" },
  "secret-variable": { type: "string" },
  "token-variable": { type: "string" },
  "verify-variable": { type: "string" },
  "forward-url": { type: "string" },
  "forward-secret-variable": { type: "string" },
  "auto-approve": { type: "boolean" },
  store: { type: "string" },
  enabled: { type: "string" },
  "off-share": { type: "string" },
  "extraction-limit": { type: "string" },
  status: { type: "string" },
  search: { type: "string" },
  before: { type: "string" },
  with: { type: "string" },
  reason: { type: "string" },
  state: { type: "string" },
  all: { type: "boolean" },
  ...IMPORT_OPTIONS,
  ...EXPORT_OPTIONS,
  ...ERASE_OPTIONS,
  help: { type: "boolean", short: "h" },
} as const;

type Flags = ReturnType<
  typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>
>["values"];
type Flag = Exclude<keyof Flags, "org" | "help">;
type Request = Parameters<Operator["request"]>;

export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "serve" }
  | { readonly kind: "request"; readonly request: Request; readonly org: string | undefined }
  | { readonly kind: "export"; readonly request: ExportRequest; readonly org: string | undefined }
  | { readonly kind: "erase"; readonly request: EraseRequest; readonly org: string | undefined }
  | { readonly kind: "import"; readonly request: ImportRequest; readonly org: string | undefined };

interface Spelling {
  /** Positional words after the verb, as the usage names them. */
  readonly words: readonly string[];
  readonly flags: readonly Flag[];
  readonly required?: readonly Flag[];
  /** The flag that stands in the place of the words. */
  readonly instead?: Flag;
}
interface Verb extends Spelling {
  readonly request: (words: readonly string[], flags: Flags) => Request;
}
const list = (noun: string): Verb => ({
  words: [],
  flags: [],
  request: () => ["GET", `/v1/${noun}`],
});
const createNamed = (noun: string): Verb => ({
  words: ["SLUG"],
  flags: ["name"],
  request: ([slug], { name }) => ["POST", `/v1/${noun}`, { slug, name }],
});

const decide = (status: string): Verb => ({
  words: ["USERID"],
  flags: ["reason"],
  required: ["reason"],
  request: (words, { reason }) => ["PUT", `${pathOf("users", words)}/status`, { status, reason }],
});

const VERBS: Readonly<Record<string, Verb | ImportVerb | ExportVerb | EraseVerb>> = {
  "keys list": list("keys"),
  "keys create": {
    words: [],
    flags: ["name", "role", "agent", "pin-user", "pin-store", "pin-agent"],
    required: ["name"],
    request: (_words, flags) => [
      "POST",
      "/v1/keys",
      {
        name: flags.name,
        role: flags.role,
        defaultAgent: flags.agent,
        pinUserId: flags["pin-user"],
        pinStoreId: flags["pin-store"],
        pinAgentId: flags["pin-agent"],
      },
    ],
  },
  "keys revoke": {
    words: ["ID"],
    flags: [],
    request: (words) => ["DELETE", pathOf("keys", words)],
  },
  "orgs list": list("orgs"),
  "orgs create": createNamed("orgs"),
  "orgs memory": {
    words: [],
    flags: ["enabled", "off-share", "extraction-limit"],
    request: (_words, flags) => {
      const changes = memoryChangesOf(flags);
      return Object.keys(changes).length === 0
        ? ["GET", "/v1/memory"]
        : ["PATCH", "/v1/memory", changes];
    },
  },
  "stores list": list("stores"),
  "stores create": createNamed("stores"),
  "channels list": list("channels"),
  "channels add": {
    words: ["CHANNEL", "ACCOUNT"],
    flags: [
      "secret-variable",
      "token-variable",
      "verify-variable",
      "forward-url",
      "forward-secret-variable",
      "auto-approve",
      "store",
    ],
    required: ["secret-variable"],
    request: ([channel, account], flags) => [
      "POST",
      "/v1/channels",
      {
        channel,
        account,
        secretVariable: flags["secret-variable"],
        tokenVariable: flags["token-variable"],
        verifyVariable: flags["verify-variable"],
        forwardUrl: flags["forward-url"],
        forwardSecretVariable: flags["forward-secret-variable"],
        autoApprove: flags["auto-approve"],
        storeId: flags.store,
      },
    ],
  },
  "channels remove": {
    words: ["CHANNEL", "ACCOUNT"],
    flags: [],
    request: (words) => ["DELETE", pathOf("channels", words)],
  },
  "people list": {
    words: [],
    flags: ["status", "search", "before"],
    request: (_words, { status, search, before }) => [
      "GET",
      withQuery("/v1/users", { status, search, before }),
    ],
  },
  "people approve": decide("approved"),
  "people block": decide("blocked"),
  "people pend": decide("pending"),
  "links list": {
    words: [],
    flags: ["user", "before"],
    request: (_words, { user, before }) => [
      "GET",
      withQuery("/v1/links", { userId: user, before }),
    ],
  },
  "links create": {
    words: ["USERID"],
    flags: ["with", "reason"],
    required: ["with", "reason"],
    request: (words, flags) => [
      "POST",
      `${pathOf("users", words)}/links`,
      { with: flags.with, reason: flags.reason },
    ],
  },
  "links undo": {
    words: ["ID"],
    flags: ["reason"],
    request: (words, { reason }) => ["POST", `${pathOf("links", words)}/undo`, { reason }],
  },
  "deliveries list": {
    words: [],
    flags: ["state", "before"],
    request: (_words, { state, before }) => ["GET", withQuery("/v1/deliveries", { state, before })],
  },
  "deliveries replay": {
    words: ["ID"],
    instead: "all",
    flags: ["all"],
    request: (words) => ["POST", `${pathOf("deliveries", words)}/replay`],
  },
  ...IMPORT_VERBS,
  ...EXPORT_VERBS,
  ...ERASE_VERBS,
  "erase list": {
    words: [],
    flags: ["before"],
    request: (_words, { before }) => ["GET", withQuery("/v1/erasures", { before })],
  },
  "erase show": {
    words: ["ID"],
    flags: [],
    request: (words) => ["GET", pathOf("erasures", words)],
  },
  consolidate: { words: [], flags: [], request: () => ["POST", "/v1/consolidate"] },
};
/** What they do is not of one org. */
const OVER_ALL_ORGS = ["orgs create", "orgs list", "consolidate"];

/**
 * Reads what stands after `souvenir`.
 *
 * @throws UsageError for an unknown command, and for words and options that are missing or that it does not take
 */
export function readCommand(args: readonly string[]): Command {
  const { values: flags, positionals } = parse(args);
  if (flags.help || positionals.length === 0 || positionals[0] === "help") return { kind: "help" };
  if (positionals[0] === "serve") return { kind: "serve" };
  const [noun = "", action = "", ...words] = positionals;
  const name = `${noun} ${action}`.trim();
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (!verb) throw new UsageError(`unknown command: ${name}`);

  const isInstead = verb.instead !== undefined && flags[verb.instead] !== undefined;
  const expected = isInstead ? [] : verb.words;
  const word = expected[words.length];
  if (word !== undefined) throw new UsageError(`${name}: ${word} is missing`);
  const flag = verb.required?.find((required) => flags[required] === undefined);
  if (flag !== undefined) throw new UsageError(`${name}: --${flag} is missing`);
  const extra = words[expected.length];
  if (extra !== undefined) throw new UsageError(`${name}: ${extra} is one word too many`);
  const accepted: readonly string[] = [
    ...verb.flags,
    ...(OVER_ALL_ORGS.includes(name) ? [] : ["org"]),
  ];
  const foreign = Object.keys(flags).find((flag) => !accepted.includes(flag));
  if (foreign !== undefined) throw new UsageError(`${name}: it takes no --${foreign}`);
  if ("exported" in verb)
    return { kind: "export", request: verb.exported(words, flags), org: flags.org };
  if ("erased" in verb)
    return { kind: "erase", request: verb.erased(words, flags), org: flags.org };
  return "imported" in verb
    ? { kind: "import", request: verb.imported(words[0] ?? "", flags), org: flags.org }
    : { kind: "request", request: verb.request(words, flags), org: flags.org };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** What is no number or truth value goes as it is: the server says what it takes. */
function memoryChangesOf(flags: Flags): Record<string, unknown> {
  const { enabled, "off-share": offShare, "extraction-limit": limit } = flags;
  const json = (text: string): unknown => {
    if (text === "true" || text === "false") return text === "true";
    return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  return {
    ...(enabled !== undefined && { enabled: json(enabled) }),
    ...(offShare !== undefined && { offShare: json(offShare) }),
    ...(limit !== undefined && {
      extractionDailyLimit: limit === "default" ? null : json(limit),
    }),
  };
}

function pathOf(noun: string, words: readonly string[]): string {
  return ["/v1", noun, ...words.map(encodeURIComponent)].join("/");
}

function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}
