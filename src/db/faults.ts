import { DrizzleQueryError } from "drizzle-orm";
import { AppError } from "../errors.ts";

/**
 * A database error without its text: messages and details of PostgreSQL and Drizzle quote values and parameters,
 * which must reach neither a log nor a caller.
 */
export class DatabaseFault extends Error {
  override readonly name = "DatabaseFault";
  /** SQLSTATE, e.g. `23505`, or the driver's code; `unknown` where it gave none. */
  readonly code: string;

  constructor(code: string, place: string) {
    super(`database error ${code}${place && ` at ${place}`}`);
    this.code = code;
  }
}

/** The connection was lost between COMMIT and its answer: what the transaction wrote is stored, or nothing of it is. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";

  constructor(cause: unknown) {
    super("the outcome of a transaction is unknown", { cause });
  }
}

// 08 connection, 53 out of a resource (disk, memory, connections), 57P shutting down or starting up, 58 system error;
// then what ran into a limit of time: a statement, a lock, an idle transaction.
const UNAVAILABLE_STATES = /^(08|53|57P|58|57014|55P03|25P0[34])/;
const UNAVAILABLE_CODES =
  /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|EPIPE|ENOENT)/;
/** A text with U+0000, as it is or escaped in JSON: no string of PostgreSQL can hold it. */
const UNSTORABLE_TEXT = new Set(["22021", "22P05"]);
/** Serialisation failure and deadlock: the database undid the transaction and asks to try again. */
const RETRY_STATES = new Set(["40001", "40P01"]);

interface DriverError {
  code?: unknown;
  constraint_name?: unknown;
  table_name?: unknown;
  cause?: unknown;
}

function driverError(error: unknown): DriverError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at as DriverError;
  }
  return undefined;
}

export function isRetryable(error: unknown): boolean {
  return RETRY_STATES.has(String(driverError(error)?.code));
}

/** True when the login role lacks a right. */
export function isDenied(error: unknown): boolean {
  return driverError(error)?.code === "42501";
}

/** True when a table was to be made and the search path led nowhere. */
export function isMissingSchema(error: unknown): boolean {
  return driverError(error)?.code === "3F000";
}

/** True when the other side hung up, as a server without TLS does when TLS is begun. */
export function isReset(error: unknown): boolean {
  return driverError(error)?.code === "ECONNRESET";
}

/** True when the disk or the quota has no room for a write. */
export function isDiskFull(error: unknown): boolean {
  return driverError(error)?.code === "53100";
}

/** True when the database cannot be reached or cannot work now, so that the same call may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof AppError) return error.code === "UNAVAILABLE";
  const code = String(driverError(error)?.code);
  return UNAVAILABLE_STATES.test(code) || UNAVAILABLE_CODES.test(code);
}

/** Drizzle wraps what its driver threw, also what has no code, into an error that quotes the query and its parameters. */
function isQueryError(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof DrizzleQueryError) return true;
  }
  return false;
}

/** What may leave `db/`: an AppError as it is, an outage as `UNAVAILABLE`, any other database error without its text. */
export function safeError(error: unknown): unknown {
  if (error instanceof AppError || error instanceof DatabaseFault) return error;
  if (isUnavailable(error)) {
    return new AppError("UNAVAILABLE", "the database cannot be used right now", {
      hint:
        error instanceof OutcomeUnknown
          ? "Whether it was stored is not known. Read it before you write it again."
          : "Nothing was stored. Try again in a few seconds.",
      cause: new DatabaseFault(String(driverError(error)?.code), ""),
    });
  }
  const known = driverError(error);
  if (!known) return isQueryError(error) ? new DatabaseFault("unknown", "") : error;
  if (UNSTORABLE_TEXT.has(String(known.code))) {
    return new AppError("INVALID_INPUT", "a text holds U+0000, which cannot be stored", {
      hint: "Nothing was stored. Send it without U+0000.",
      cause: new DatabaseFault(String(known.code), ""),
    });
  }
  const place = [known.table_name, known.constraint_name].filter(
    (part) => typeof part === "string",
  );
  return new DatabaseFault(String(known.code), place.join("."));
}
