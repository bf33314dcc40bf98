import { html } from "htm/preact";
import type { ScheduledKind } from "../../jobs/service.ts";
import { type CountedDay, liveFacts, MAX_WAITING } from "../../overview/counts.ts";
import type { OrgOverview } from "../../overview/service.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { Figures, figure } from "../parts/figures.ts";
import { PageHead } from "../parts/page-head.ts";
import { Plot } from "../parts/plot.ts";
import { Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { FactTable } from "./fact-table.ts";
import { OutcomeBadge, purposeOf } from "./job-words.ts";

const SHOWN_RUNS = 5;

interface OverviewProps {
  readonly viewer: Viewer;
  readonly overview: OrgOverview;
  /** For admins only, who may also look at what waits for them. */
  readonly schedule: readonly ScheduledKind[] | undefined;
}

/** What an org remembers, how it grew, and what waits for somebody. */
export function OverviewPage({
  viewer,
  overview: { latest, days, waiting },
  schedule,
}: OverviewProps) {
  return html`
    <${Layout} title="Overview" viewer=${viewer} here="">
      <${PageHead}
        title="Overview"
        lead="What your agents remember, where it grows, and what waits for you."
      />
      ${latest ? html`<${Totals} latest=${latest} />` : html`<p class="empty">There is a lot here, which is counted once a night: the first numbers come tomorrow.</p>`}
      <${WaitingList} waiting=${waiting} isAdmin=${schedule !== undefined} />
      ${latest && html`<${Growth} days=${days} />`}
      ${
        latest &&
        html`
          <section aria-labelledby="where">
            <h2 id="where">Facts by scope and agent</h2>
            <${FactTable} facts=${latest.counts.facts} />
          </section>
        `
      }
      ${schedule && html`<${LastRuns} schedule=${schedule} />`}
    <//>
  `;
}

/** What the server did last by itself. */
function LastRuns({ schedule }: { readonly schedule: readonly ScheduledKind[] }) {
  const runs = schedule
    .flatMap(({ last }) => (last ? [last] : []))
    .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
    .slice(0, SHOWN_RUNS);
  return html`
    <section aria-labelledby="runs">
      <h2 id="runs">What the server did last</h2>
      ${
        runs.length === 0
          ? html`<p class="empty">No job has run yet.</p>`
          : html`
            <ul class="rows">
              ${runs.map(
                (run) => html`
                  <li class="row">
                    <span>${purposeOf(run.kind) ?? run.kind}</span>
                    <${OutcomeBadge} outcome=${run.outcome} />
                    <span class="muted aside"><${Time} at=${new Date(run.startedAt)} /></span>
                  </li>
                `,
              )}
            </ul>
          `
      }
      <p><a href=${address("/jobs")}>All jobs</a></p>
    </section>
  `;
}

function Totals({ latest: { counts, countedAt } }: { readonly latest: CountedDay }) {
  const { people, messages, entries } = counts;
  return html`
    <${Figures}
      figures=${[
        { label: "Facts", value: figure(liveFacts(counts)), href: address("/facts") },
        { label: "People", value: figure(people), href: address("/people") },
        { label: "Messages", value: figure(messages), href: address("/chat") },
        { label: "Entries", value: figure(entries) },
      ]}
    />
    <p class="hint">Counted on <${Time} at=${countedAt} />. Entries are what agents keep under a name of a person.</p>
  `;
}

function WaitingList({ waiting, isAdmin }: Pick<OrgOverview, "waiting"> & { isAdmin: boolean }) {
  const { contradictions, duplicates, pendingPeople, corrections, deadLetters } = waiting;
  const forAdmins = [
    [pendingPeople, "people wait to be approved", "person waits to be approved", "/people"],
    [
      corrections,
      "corrections that nobody learned from",
      "correction that nobody learned from",
      "/inbox/corrections",
    ],
    [
      deadLetters,
      "deliveries and turns that were given up",
      "delivery or turn that was given up",
      "/dead-letters",
    ],
  ] as const;
  const items = [
    [contradictions, "contradictions", "contradiction", "/inbox"] as const,
    [
      duplicates,
      "pairs that may say the same",
      "pair that may say the same",
      "/duplicates",
    ] as const,
    ...(isAdmin ? forAdmins : []),
  ].filter(([count]) => count > 0);
  return html`
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waits for you</h2>
      ${
        items.length === 0
          ? html`<p class="empty">Nothing. Contradictions, possible duplicates and people to approve are shown here.</p>`
          : html`
            <ul class="rows">
              ${items.map(
                ([count, many, one, path]) => html`
                  <li class="row">
                    <a class="row-name" href=${address(path)}>${figure(count, MAX_WAITING)} ${count === 1 ? one : many}</a>
                  </li>
                `,
              )}
            </ul>
          `
      }
    </section>
  `;
}

function Growth({ days }: Pick<OrgOverview, "days">) {
  const series = (label: string, read: (counts: CountedDay["counts"]) => number) => [
    {
      label,
      points: days.map(({ countedAt, counts }) => ({ at: countedAt, value: read(counts) })),
    },
  ];
  if (days.length < 2) {
    return html`
      <section aria-labelledby="growth">
        <h2 id="growth">Growth</h2>
        <p class="empty">It is counted once a day: from tomorrow on you see here how it grows.</p>
      </section>
    `;
  }
  return html`
    <section aria-labelledby="growth">
      <h2 id="growth">Growth</h2>
      <div class="pair">
        <${Plot} title="Facts" series=${series("Facts", liveFacts)} format=${figure} />
        <${Plot} title="Messages" series=${series("Messages", ({ messages }) => messages)} format=${figure} />
      </div>
    </section>
  `;
}
