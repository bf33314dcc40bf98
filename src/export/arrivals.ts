import type { StoredRow } from "./repository.ts";
import type { AnySection } from "./rows.ts";

/** Longer than a transaction lasts, and than the clocks of servers beside this one are apart. */
const MARGIN_MS = 5 * 60_000;
/** Fields that a foreign key binds to a row of an earlier section. */
const REFERENCES = [
  "userId",
  "identityId",
  "storeId",
  "linkedInto",
  "fromUserId",
  "toUserId",
  "linkId",
  "messageId",
];
const REFERRED: readonly AnySection[] = ["stores", "users", "identities", "links", "messages"];
/** No foreign key binds them: they outlive who they tell of. */
const UNBOUND: readonly AnySection[] = ["events", "audit"];

/**
 * Keeps out what arrived while an export was made and refers to what had not arrived when its own section was read: of
 * somebody new the file holds everything before a point, or nothing. Ids tell the time they were made at.
 */
export class Arrivals {
  readonly #since: string;
  readonly #written = new Set<string>();

  /** @param now an id of version 7, made now */
  constructor(now: string) {
    const milliseconds = Number.parseInt(now.slice(0, 8) + now.slice(9, 13), 16) - MARGIN_MS;
    const hex = milliseconds.toString(16).padStart(12, "0");
    this.#since = `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
  }

  /** Whether the row may be written. */
  admits(section: AnySection, row: StoredRow): boolean {
    if (!UNBOUND.includes(section) && REFERENCES.some((field) => this.#isMissing(row[field])))
      return false;
    if (REFERRED.includes(section) && this.#isRecent(row.id)) this.#written.add(row.id);
    return true;
  }

  #isMissing(id: unknown): boolean {
    return this.#isRecent(id) && !this.#written.has(id);
  }

  #isRecent(id: unknown): id is string {
    return typeof id === "string" && id > this.#since;
  }
}
