import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const htmx = require.resolve("htmx.org/dist/htmx.min.js");
const page = new URL("./scripts/page.js", import.meta.url);

/** htmx and what it leaves to the page, as one file. Without it everything works too, a page at a time. */
export const SCRIPT = [htmx, page].map((file) => readFileSync(file, "utf8")).join("\n");

const version = createHash("sha256").update(SCRIPT).digest("hex").slice(0, 12);

/** Names the version, so that browsers may keep it for good. */
export const SCRIPT_ADDRESS = `/ui/script.js?v=${version}`;

/**
 * htmx adds no style of its own, which the page's policy refuses. What it changed in the address is read anew from the
 * server when somebody goes back.
 */
export const SCRIPT_SETTINGS = JSON.stringify({ includeIndicatorCSS: false, history: "reload" });
