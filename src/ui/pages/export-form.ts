import { html } from "htm/preact";
import { address } from "../address.ts";
import type { DataSubject } from "./data.ts";

const HELD = {
  user: "who they are on every channel and whoever was linked into them, their entries, every message in both directions with what stood there before an edit, every fact in every state with its history and what people decided about it, and what the audit trail says of them. Facts of the org and its stores that came from their messages are listed apart.",
  store:
    "its facts in every state with their history, its rules in every version, its channel accounts without their secrets, and the messages that were written to it, with who wrote them.",
  org: "everybody, every store, message, entry and fact in every state, the rules in every version, the settings and the audit trail. Keys are listed without what they open with.",
} as const;

/** A file of everything, in either form. A plain form: a browser saves what it gets without leaving the page. */
export function ExportForm({ kind, id }: Pick<DataSubject, "kind" | "id">) {
  const [name, value] = { user: ["userId", id], store: ["storeId", id], org: ["org", "1"] }[kind];
  return html`
    <section aria-labelledby="export">
      <h2 id="export">Take it along</h2>
      <form class="stack" method="get" action=${address("/export")}>
        <input type="hidden" name=${name} value=${value} />
        <p>One file of everything that is kept: ${HELD[kind]} The file can be imported again.</p>
        <p class="muted">JSON is one document, to look into or to hand on. NDJSON has one row a line, for programs and large archives. The audit trail notes who took it.</p>
        <p class="together">
          <button name="format" value="json">Download JSON</button>
          <button class="quiet" name="format" value="ndjson">Download NDJSON</button>
        </p>
      </form>
    </section>
  `;
}
