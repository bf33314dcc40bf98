import closeWithGrace from "close-with-grace";
import { type App, buildApp } from "../app.ts";
import { type Config, readConfig } from "../config.ts";
import { banner } from "./banner.ts";
import { removeOperatorFile, writeOperatorFile } from "./operator-file.ts";

/** Longer than a running call may take to end, and still within the ten seconds that supervisors give. */
const CLOSE_WITHIN_MS = 9_000;

/** Runs the server until SIGTERM or SIGINT. A start that cannot succeed ends with one message and exit code 1. */
export async function serve(env: Record<string, string | undefined>): Promise<void> {
  try {
    const config = readConfig(env);
    const app = await buildApp(config, { secretOf: (variable) => env[variable] });
    closeOnSignal(app, config);
    await run(app, config);
  } catch (error) {
    fail(error);
  }
}

async function run(app: App, config: Config): Promise<void> {
  let ownerKey: string | undefined;
  let url: string | undefined;
  const tell = () => {
    if (url !== undefined) process.stdout.write(banner({ url, config, ownerKey }));
  };
  await app.start({
    ready(key) {
      ownerKey = key;
      tell();
    },
    failed: fail,
  });
  url = await app.http.listen({ host: config.HOST, port: config.PORT });
  if (config.DATABASE_URL === undefined) {
    await writeOperatorFile(config.DATA_DIR, { url, token: app.operatorToken });
  }
  tell();
}

function closeOnSignal(app: App, config: Config): void {
  closeWithGrace({ delay: CLOSE_WITHIN_MS, logger: false }, async ({ err }) => {
    if (err) app.http.log.fatal({ err }, "stopping after an unexpected error");
    if (config.DATABASE_URL === undefined) await removeOperatorFile(config.DATA_DIR);
    await app.close();
  });
}

function fail(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`Souvenir cannot start: ${reason}\n`);
  process.exit(1);
}
