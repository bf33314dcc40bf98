import type { JobHandler } from "../jobs/handler.ts";
import type { HnswIndexes } from "./hnsw.ts";
import type { UpstashDeletions } from "./upstash-deletions.ts";

/** Gives large scopes an index and takes it from those that shrank or are gone. */
export function vectorIndexesJob(indexes: HnswIndexes): JobHandler {
  return {
    kind: "vectors.index",
    cron: "*/5 * * * *",
    exclusive: true,
    run: (_job, { signal }) => indexes.maintain(signal),
  };
}

/** Deletes in the index elsewhere what was deleted here. */
export function vectorDeletionsJob(deletions: UpstashDeletions): JobHandler {
  return {
    kind: "vectors.delete",
    cron: "* * * * *",
    exclusive: true,
    run: (_job, { signal }) => deletions.run(signal),
  };
}
