import { inject } from "vitest";
import type { Engine } from "../support/database.ts";

/** For what is decided before the database is asked: the one that starts faster, if it is there. */
export function oneEngine(): Engine {
  return inject("postgresUrl") === undefined ? "embedded" : "postgres";
}
