import type { Config } from "../config.ts";
import { VERSION } from "../version.ts";

interface BannerFacts {
  readonly url: string;
  readonly config: Config;
  /** Shown here once and stored nowhere. */
  readonly ownerKey: string | undefined;
}

/** What a person sees after the start: where it runs, how to connect, and the owner key if it was made just now. */
export function banner({ url, config, ownerKey }: BannerFacts): string {
  const database =
    config.DATABASE_URL === undefined ? `embedded, in ${config.DATA_DIR}` : "PostgreSQL";
  const withoutKeys = config.AUTH === "none";
  const header = withoutKeys ? "" : ` --header "Authorization: Bearer ${ownerKey ?? "svr_…"}"`;
  const connect =
    withoutKeys || ownerKey !== undefined
      ? "Connect Claude Code:"
      : "Connect Claude Code, with your key for svr_…:";
  const lines = [
    `Souvenir ${VERSION} is ready at ${url} (database: ${database})`,
    ...(withoutKeys ? ["AUTH=none: whoever can reach this address is the owner."] : []),
    ...(ownerKey === undefined
      ? []
      : ["", "Your owner key, shown only this once. Keep it safe:", `  ${ownerKey}`]),
    "",
    connect,
    `  claude mcp add --transport http souvenir ${url}/mcp${header}`,
    "",
  ];
  return `${lines.join("\n")}\n`;
}
