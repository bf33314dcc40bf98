import type { ImportRequest } from "./import.ts";
import { UsageError } from "./usage-error.ts";

export const IMPORT_USAGE = `  import telegram FILE [--dry-run] [--update] [--approve] [--account ACCOUNT] [--me TELEGRAMID] [--saved-messages]
                                               archive a Telegram Desktop JSON export (a chat or an account)
  import souvenir FILE [--dry-run]             restore an export of Souvenir (JSON or NDJSON, packed or not)
  import server-memory FILE [--dry-run] [--user USERID] [--agent AGENT]
                                               take over the facts of @modelcontextprotocol/server-memory
`;

export const IMPORT_OPTIONS = {
  "dry-run": { type: "boolean" },
  update: { type: "boolean" },
  approve: { type: "boolean" },
  account: { type: "string" },
  me: { type: "string" },
  "saved-messages": { type: "boolean" },
  user: { type: "string" },
} as const;

interface Flags {
  readonly "dry-run"?: boolean;
  readonly update?: boolean;
  readonly approve?: boolean;
  readonly account?: string;
  readonly me?: string;
  readonly "saved-messages"?: boolean;
  readonly user?: string;
  readonly agent?: string;
}

export interface ImportVerb {
  readonly words: readonly string[];
  readonly flags: readonly (keyof Flags)[];
  readonly required?: undefined;
  readonly instead?: undefined;
  readonly imported: (file: string, flags: Flags) => ImportRequest;
}

export const IMPORT_VERBS: Readonly<Record<string, ImportVerb>> = {
  "import telegram": {
    words: ["FILE"],
    flags: ["dry-run", "update", "approve", "account", "me", "saved-messages"],
    imported: (file, flags) => ({
      from: "telegram",
      file,
      options: { me: telegramIdOf(flags.me), savedMessages: flags["saved-messages"] ?? false },
      to: {
        account: flags.account ?? "import",
        dryRun: flags["dry-run"] ?? false,
        update: flags.update ?? false,
        approve: flags.approve ?? false,
      },
    }),
  },
  "import souvenir": {
    words: ["FILE"],
    flags: ["dry-run"],
    imported: (file, flags) => ({
      from: "souvenir",
      file,
      to: { dryRun: flags["dry-run"] ?? false },
    }),
  },
  "import server-memory": {
    words: ["FILE"],
    flags: ["dry-run", "user", "agent"],
    imported: (file, flags) => ({
      from: "server-memory",
      file,
      to: { dryRun: flags["dry-run"] ?? false, userId: flags.user, agentId: flags.agent },
    }),
  },
};

function telegramIdOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (id > 0 && Number.isSafeInteger(id)) return id;
  throw new UsageError("import telegram: --me is the number of a Telegram account");
}
