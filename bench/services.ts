import type { Clock } from "../src/clock.ts";
import { readConfig } from "../src/config.ts";
import { Database } from "../src/db/client.ts";
import type { Embedder } from "../src/embeddings/embedder.ts";
import { Metrics } from "../src/http/metrics.ts";
import { buildServices } from "../src/services.ts";
import type { DatabaseEnv } from "./databases.ts";

export type Services = Awaited<ReturnType<typeof openServices>>;

/**
 * The services as the server wires them, over a migrated database, for benchmarks that go below HTTP or need a tool
 * that the server does not have. No job runs by itself.
 */
export async function openServices(
  env: DatabaseEnv,
  clock: Clock = () => new Date(),
  embedder?: Embedder,
) {
  const config = readConfig({ ...env, EMBEDDER: "none" });
  const database = await Database.open({ url: config.DATABASE_URL, dataDir: config.DATA_DIR });
  await database.prepare();
  const services = await buildServices({
    config,
    database,
    clock,
    embedder,
    metrics: new Metrics(),
    onNotice: (notice) => console.error(notice),
    secretOf: () => undefined,
    wake: () => {},
    wait: () => Promise.resolve(),
  });
  return { ...services, database };
}
