import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const sheet = (name: string) =>
  readFileSync(new URL(`./styles/${name}.css`, import.meta.url), "utf8");

/** In this order: a later sheet refines the ones before it. */
const SHEETS = ["ground", "frame", "forms", "parts", "plot", "memory", "chat", "admin"];

export const STYLE = SHEETS.map(sheet).join("");

const version = createHash("sha256").update(STYLE).digest("hex").slice(0, 12);

/** Names the version, so that browsers may keep it for good. */
export const STYLE_ADDRESS = `/ui/style.css?v=${version}`;
