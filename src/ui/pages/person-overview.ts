import { html } from "htm/preact";
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
    <//>
  `;
}
