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

// 08 connection, 53 out of a resource (disk, memory, connections), 57P shutting down or starting up, 58 system error.
const UNAVAILABLE_STATES = /^(08|53|57P|58)/;
const UNAVAILABLE_CODES =
  /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|EPIPE|ENOENT)/;
/** A text with U+0000: no string of PostgreSQL can hold it. */
const UNSTORABLE_TEXT = "22021";
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
      hint: "Nothing was stored. Try again in a few seconds.",
      cause: new DatabaseFault(String(driverError(error)?.code), ""),
    });
  }
  const known = driverError(error);
  if (!known) return isQueryError(error) ? new DatabaseFault("unknown", "") : error;
  if (known.code === UNSTORABLE_TEXT) {
    return new AppError("INVALID_INPUT", "a text holds U+0000, which cannot be stored", {
      hint: "Nothing was stored. Send it without U+0000.",
      cause: new DatabaseFault(UNSTORABLE_TEXT, ""),
    });
  }
  const place = [known.table_name, known.constraint_name].filter(
    (part) => typeof part === "string",
  );
  return new DatabaseFault(String(known.code), place.join("."));
}
