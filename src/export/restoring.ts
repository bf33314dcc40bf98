import type { Tx } from "../db/tenant.ts";
import type { ExportImportRepository, Parent } from "./import-repository.ts";
import type { ImportedLine } from "./imported.ts";
import type { Row } from "./line.ts";
import { differences, restoredRow } from "./restored.ts";
import type { SectionName } from "./rows.ts";

interface Scope {
  readonly orgId: string;
}

/** What tells a row of a section from the others; its id, where nothing else is said. */
const IDENTITY: Partial<Record<SectionName, readonly string[]>> = {
  linkMoves: ["linkId", "identityId"],
  entries: ["userId", "key", "identityId"],
  revisions: ["messageId", "revision"],
  usage: ["day"],
};

/** What may be there once, whatever its id. */
const UNIQUE: Partial<Record<SectionName, readonly string[]>> = {
  stores: ["slug"],
  identities: ["channel", "externalId"],
  channelAccounts: ["channel", "account"],
  rules: ["storeId", "version"],
  messages: ["channel", "account", "platformMessageId"],
  orgFacts: ["agentId", "key", "sourceMessageId"],
  storeFacts: ["storeId", "agentId", "key", "sourceMessageId"],
  userFacts: ["userId", "agentId", "key", "sourceMessageId"],
};

/** Fields that a foreign key binds to a row that has to be there before. */
const REFERENCES: Readonly<Record<string, Parent>> = {
  userId: "users",
  linkedInto: "heads",
  fromUserId: "users",
  toUserId: "users",
  identityId: "identities",
  storeId: "stores",
  linkId: "links",
  messageId: "messages",
};
/** Said alike of what another org has: nobody learns here what other orgs hold. */
const TAKEN = "its id, or what may be there only once, is taken";
/** They outlive who they tell of. */
const UNBOUND: readonly SectionName[] = ["events", "audit"];

interface Item {
  readonly number: number;
  readonly row: Row;
}

/** Puts rows of one section back, and says of each what became of it. */
export class Restoring {
  readonly #rows: ExportImportRepository;

  constructor(rows: ExportImportRepository) {
    this.#rows = rows;
  }

  async rows(
    scope: Scope,
    section: SectionName,
    items: readonly Item[],
    dryRun: boolean,
    tx: Tx,
  ): Promise<ImportedLine[]> {
    const identity = IDENTITY[section] ?? ["id"];
    const unique = UNIQUE[section] ?? [];
    const outcomes: ImportedLine[] = [];
    const say = (number: number, outcome: ImportedLine["outcome"], reason = "") =>
      outcomes.push({ number, section, outcome, ...(reason !== "" && { reason }) });

    // A file that is new here takes one statement a batch: what is in the way is looked up for the rest alone.
    const missing = dryRun ? new Map() : await this.#missing(scope, section, items, tx);
    const bound = dryRun ? [] : items.filter(({ number }) => !missing.has(number));
    const rows = bound.map(({ row }) => restoredRow(section, row));
    const inserted = await this.#rows.insert(scope, section, identity, rows, tx);
    const fresh = new Set(inserted.map((row) => nameOf(row, identity)));
    const rest: Item[] = [];
    for (const item of items) {
      // Twice in a batch it is put in once.
      if (fresh.delete(nameOf(item.row, identity))) say(item.number, "new");
      else rest.push(item);
    }
    const there = await this.#index(scope, section, identity, rest, tx);
    const away = rest.filter(({ row }) => !there.has(nameOf(row, identity)));
    const others = await this.#index(scope, section, unique, away, tx);
    for (const { number, row } of rest) {
      const stored = there.get(nameOf(row, identity));
      const other = others.get(nameOf(row, unique));
      if (stored) {
        const fields = differences(section, row, stored);
        say(number, fields.length > 0 ? "differs" : "present", fields.join(", "));
      } else if (other) {
        const what = unique.map((field) => row[field]).join(" ");
        say(number, "refused", `${what} is here already, as ${other.id}`);
      } else if (dryRun) {
        say(number, "new");
        there.set(nameOf(row, identity), restoredRow(section, row));
      } else say(number, "refused", missing.get(number) ?? TAKEN);
    }
    return outcomes;
  }

  /** What the org has under the same names. */
  async #index(
    scope: Scope,
    section: SectionName,
    fields: readonly string[],
    items: readonly Item[],
    tx: Tx,
  ): Promise<Map<string, Row>> {
    if (fields.length === 0) return new Map();
    const rows = items.map(({ row }) => row).filter((row) => row.platformMessageId !== null);
    const isByPlatform = fields.includes("platformMessageId");
    const wanted = isByPlatform ? rows : items.map(({ row }) => row);
    const found = await this.#rows.find(scope, section, fields, wanted, tx);
    return new Map(found.map((row) => [nameOf(row, fields), row]));
  }

  /** Rows that refer to nothing, with what they miss. */
  async #missing(
    scope: Scope,
    section: SectionName,
    items: readonly Item[],
    tx: Tx,
  ): Promise<Map<number, string>> {
    const missing = new Map<number, string>();
    if (UNBOUND.includes(section)) return missing;
    for (const [field, parent] of Object.entries(REFERENCES)) {
      const ids = [...new Set(items.flatMap(({ row }) => idOf(row[field])))];
      const known = new Set(await this.#rows.known(scope, parent, ids, tx));
      for (const { number, row } of items) {
        const [id] = idOf(row[field]);
        if (id !== undefined && !known.has(id))
          missing.set(
            number,
            `${field}: ${id} is neither here nor before this line of the file${parent === "heads" ? ", or is linked itself" : ""}`,
          );
      }
    }
    return missing;
  }
}

function idOf(value: unknown): string[] {
  return typeof value === "string" ? [value] : [];
}

function nameOf(row: Row, fields: readonly string[]): string {
  return JSON.stringify(fields.map((field) => row[field] ?? null));
}
