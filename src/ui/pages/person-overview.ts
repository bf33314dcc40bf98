import { html } from "htm/preact";
import { mayExport } from "../../export/reach.ts";
import { liveFacts, type PersonCounts, SMALL_ORG } from "../../overview/counts.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { Figures, figure } from "../parts/figures.ts";
import { PageHead } from "../parts/page-head.ts";
import type { Viewer } from "../viewer.ts";
import { FactTable } from "./fact-table.ts";

interface PersonOverviewProps {
  readonly viewer: Viewer;
  readonly counts: PersonCounts;
}

/** What is remembered of the one person that a key is bound to. */
export function PersonOverviewPage({ viewer, counts }: PersonOverviewProps) {
  const { messages, entries } = counts;
  return html`
    <${Layout} title="Overview" viewer=${viewer} here="">
      <${PageHead}
        title="What is remembered about you"
        lead="Look at each fact and at the sentence it comes from, correct it, or delete it."
      />
      <${Figures}
        figures=${[
          {
            label: "Facts",
            value: figure(liveFacts(counts), SMALL_ORG),
            href: address("/facts", { scope: "user" }),
          },
          { label: "Messages", value: figure(messages, SMALL_ORG), href: address("/chat") },
          { label: "Entries", value: figure(entries, SMALL_ORG) },
        ]}
      />
      <section aria-labelledby="where">
        <h2 id="where">Facts by agent</h2>
        <${FactTable} facts=${counts.facts} />
      </section>
      <section aria-labelledby="rights">
        <h2 id="rights">Take it with you, or have it erased</h2>
        ${mayExport(viewer.principal, "user") && html`<p><a href=${address("/data", { userId: viewer.principal.pins.userId })}>Take a copy of everything that is kept about you</a></p>`}
        <p>You delete single facts and messages on their own pages. To have everything about you erased, ask whoever gave you this key: only an owner can do that.</p>
      </section>
    <//>
  `;
}
