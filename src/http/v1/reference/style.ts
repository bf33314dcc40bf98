import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export const STYLE = readFileSync(new URL("./reference.css", import.meta.url), "utf8");

const version = createHash("sha256").update(STYLE).digest("hex").slice(0, 12);

/** Names the version, so that browsers may keep it for good. */
export const STYLE_ADDRESS = `/v1/docs/style.css?v=${version}`;
