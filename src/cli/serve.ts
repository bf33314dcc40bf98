import closeWithGrace from "close-with-grace";
import type { App } from "../app.ts";
import { type Config, readConfig } from "../config.ts";
import { openEmbedded } from "../db/embedded/embedded.ts";
import { banner } from "./banner.ts";
import { removeOperatorFile, writeOperatorFile } from "./operator-file.ts";
import { explain } from "./reason.ts";

/** Longer than a running call may take to end, and still within the ten seconds that supervisors give. */
const CLOSE_WITHIN_MS = 9_000;

/** Runs the server until SIGTERM or SIGINT. A start that cannot succeed ends with one message and exit code 1. */
export async function serve(env: Record<string, string | undefined>): Promise<void> {
  let app: App | undefined;
  let config: Config | undefined;
  let isStopping = false;
  // Before anything slow: as process 1 of a container it would not hear a signal that nobody listens to.
  closeWithGrace({ delay: CLOSE_WITHIN_MS, logger: false }, async ({ err }) => {
    isStopping = true;
    if (!app || !config) return;
    if (err) app.http.log.fatal({ err }, "stopping after an unexpected error");
    if (config.DATABASE_URL === undefined) removeOperatorFile(config.DATA_DIR);
    await app.close();
  });
  try {
    config = readConfig(env);
    // The embedded database starts in a thread of its own, on a first start for seconds, while the rest is still loaded.
    const [{ buildApp }, embedded] = await Promise.all([
      import("../app.ts"),
      config.DATABASE_URL === undefined ? openEmbedded(config.DATA_DIR) : undefined,
    ]);
    app = await buildApp(config, { embedded, secretOf: (variable) => env[variable] });
    await run(app, config);
  } catch (error) {
    // A stop takes the database away from a start that has not ended.
    if (!isStopping) fail(error);
  }
}

/** Listens before it makes an owner key: a port that is taken must not cost the only sight of the key. */
async function run(app: App, config: Config): Promise<void> {
  const address = await app.http.listen({ host: config.HOST, port: config.PORT });
  // The address of every interface is no address to connect to; Fastify itself replaces only the one of IPv4.
  const url = address.replace("//[::]:", "//[::1]:");
  await app.start({
    ready(ownerKey) {
      // First the file: who reads "is ready" may call the command line at once.
      if (config.DATABASE_URL === undefined) {
        writeOperatorFile(config.DATA_DIR, { url, token: app.operatorToken });
      }
      process.stdout.write(banner({ url, config, ownerKey }));
    },
    failed: fail,
  });
}

function fail(error: unknown): void {
  process.stderr.write(`Souvenir cannot start: ${explain(error)}\n`);
  process.exit(1);
}
