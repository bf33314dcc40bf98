import { html } from "htm/preact";
import type { FactCount } from "../../overview/counts.ts";
import { figure } from "../parts/figures.ts";
import { Table } from "../parts/table.ts";

const SCOPES = { org: "The org", store: "Stores", user: "People" } as const;

interface FactTableProps {
  readonly facts: readonly FactCount[];
}

/** How many facts live where, and which agent's they are. */
export function FactTable({ facts }: FactTableProps) {
  if (facts.length === 0) {
    return html`<p class="empty">No facts yet. They come from agents that remember, and from conversations.</p>`;
  }
  return html`<${Table}
    caption="Facts by scope and agent"
    columns=${["Of", "Agent", { label: "Facts", number: true }]}
    rows=${facts.map(({ scope, agentId, live }) => [SCOPES[scope], agentId, figure(live)])}
  />`;
}
