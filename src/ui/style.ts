import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const sheet = (name: string) =>
  readFileSync(new URL(`./styles/${name}.css`, import.meta.url), "utf8");

export const STYLE = sheet("frame") + sheet("memory");

const version = createHash("sha256").update(STYLE).digest("hex").slice(0, 12);

/** Names the version, so that browsers may keep it for good. */
export const STYLE_ADDRESS = `/ui/style.css?v=${version}`;
