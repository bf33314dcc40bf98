import type { JobHandler } from "../jobs/handler.ts";
import type { Database } from "./client.ts";

/** The embedded database has no checkpointer and no autovacuum: without this its log and tables grow for ever. */
export function maintenanceJob(database: Database): JobHandler {
  return {
    kind: "database.maintenance",
    cron: "31 * * * *",
    async run() {
      await database.maintain("vacuum (analyze)");
      await database.maintain("checkpoint");
    },
  };
}
