import type { JobHandler } from "../jobs/runner.ts";
import type { Database } from "./client.ts";

/** The embedded database has no checkpointer and no autovacuum: without this its log and tables grow for ever. */
export function maintenanceJob(database: Database): JobHandler {
  return {
    kind: "database.maintenance",
    every: "hour",
    async run() {
      await database.maintain("vacuum (analyze)");
      await database.maintain("checkpoint");
    },
  };
}
