import { html } from "htm/preact";
import type { Erasure, Places } from "../../erasure/erasure.ts";
import type { Verification } from "../../erasure/service.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { Fields } from "../parts/fields.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { Table } from "../parts/table.ts";
import { Text, Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";

const KINDS: Readonly<Record<Erasure["kind"], string>> = {
  user: "A person",
  store: "A store",
  org: "The org",
  fact: "A fact",
  message: "A message",
  conversation: "A conversation",
  reset: "What was learned",
};
const STATES: Readonly<Record<Erasure["state"], string>> = {
  erasing: "being erased",
  erased: "erased, not checked yet",
  verified: "erased and checked",
  scrubbed: "gone from the files",
  failed: "failed",
};

interface ListProps {
  readonly viewer: Viewer;
  readonly page: { readonly erasures: readonly Erasure[]; readonly nextBefore: string | null };
}

/** Everything that was erased, newest first. */
export function ErasuresPage({ viewer, page }: ListProps) {
  return html`
    <${Layout} title="Erasures" viewer=${viewer} here="/data">
      <${PageHead}
        title="Erasures"
        trail=${[{ href: address("/data"), label: "Export and erase" }]}
        lead="Each entry is bound to the one before it, so that none can be changed or taken out unseen."
      />
      ${
        page.erasures.length === 0
          ? html`<p class="empty">Nothing was erased yet. Each erasure will have its report here.</p>`
          : html`<${Table}
              caption="Erasures"
              columns=${[{ label: "No.", number: true }, "What", "State", "Asked for"]}
              rows=${page.erasures.map((one) => [
                one.position,
                html`<a href=${erasureAddress(one)}>${KINDS[one.kind]}</a>`,
                html`<span class="badge">${STATES[one.state]}</span>`,
                html`<${Time} at=${new Date(one.requestedAt)} />`,
              ])}
            />`
      }
      <${Pager}
        label="Pages of erasures"
        on=${page.nextBefore !== null && { href: address("/erasures", { before: page.nextBefore }), label: "Earlier ones" }}
      />
    <//>
  `;
}

interface ErasureProps {
  readonly viewer: Viewer;
  readonly erasure: Erasure;
  readonly verification: Verification | undefined;
}

/** The report of one erasure: what went, what stays on purpose, and what nobody can see from here. */
export function ErasurePage({ viewer, erasure, verification }: ErasureProps) {
  const { report, state, position, kind } = erasure;
  const time = (at: string | null) => at && html`<${Time} at=${new Date(at)} />`;
  const isOpen = state === "erasing" || state === "erased";
  return html`
    <${Layout} title="Erasure" viewer=${viewer} here="/data">
      <${PageHead}
        title=${`Erasure ${position}: ${KINDS[kind].toLowerCase()}`}
        trail=${[
          { href: address("/data"), label: "Export and erase" },
          { href: address("/erasures"), label: "Erasures" },
        ]}
      >
        <span class="badge">${STATES[state]}</span>
      <//>
      ${verification && html`<${Verified} verification=${verification} />`}
      ${report.reason && html`<p class="notice bad" role="alert"><${Text} text=${`It failed: ${report.reason}.`} /></p>`}
      ${isOpen && html`<p class="notice" role="status">It is under way. <a href=${erasureAddress(erasure)}>Look again</a></p>`}
      ${state === "verified" && html`<p class="notice" role="status">Nothing is left in any table. The bytes of the deleted rows leave the database's files with the next rewrite.</p>`}
      <section aria-labelledby="times">
        <h2 id="times">What happened</h2>
        <${Fields}
          fields=${[
            ["Asked for", time(erasure.requestedAt)],
            ["By", html`<code><${Text} text=${erasure.requestedBy} /></code>`],
            ["Erased", time(erasure.erasedAt) ?? "not yet"],
            ["Checked", time(erasure.verifiedAt) ?? "not yet"],
            ["Gone from the files", time(erasure.scrubbedAt) ?? "not yet"],
          ]}
        />
      </section>
      <${Counts} id="deleted" title="Deleted" places=${report.deleted} before=${report.before} empty="Nothing was deleted yet." />
      <${Counts} id="cleared" title="Kept without what it told" places=${report.cleared} empty="No trace was emptied." />
      ${report.scan && html`<${ScanPart} scan=${report.scan} />`}
      ${
        report.unverified.length > 0 &&
        html`
          <section aria-labelledby="unverified">
            <h2 id="unverified">What could not be looked into from here</h2>
            <ul>${report.unverified.map((sentence) => html`<li><${Text} text=${sentence} /></li>`)}</ul>
          </section>
        `
      }
      <section aria-labelledby="proof">
        <h2 id="proof">Proof</h2>
        <${Fields}
          fields=${[
            [
              "This entry's hash",
              erasure.hash ? html`<code>${erasure.hash}</code>` : "when it has come to its end",
            ],
            ["The one before", erasure.previousHash && html`<code>${erasure.previousHash}</code>`],
          ]}
        />
        <form method="post" action=${`${erasureAddress(erasure)}/verify`}>
          <button class="quiet">Verify again</button>
        </form>
      </section>
    <//>
  `;
}

function Verified({
  verification: { isVerified, scan, faults },
}: {
  readonly verification: Verification;
}) {
  const left = Object.entries(scan.left).map(([place, rows]) => `${rows} in ${place}`);
  return isVerified
    ? html`<p class="notice good" role="status">Looked again just now, through ${scan.columns} columns of ${scan.tables} tables: nothing is left, and the chain is whole.</p>`
    : html`<p class="notice bad" role="alert"><${Text} text=${[...left, ...faults].join("; ")} limit=${600} /></p>`;
}

interface CountsProps {
  readonly id: string;
  readonly title: string;
  readonly places: Places;
  readonly before?: Places;
  readonly empty: string;
}

function Counts({ id, title, places, before = {}, empty }: CountsProps) {
  const rows = Object.entries(places);
  const hasBefore = Object.keys(before).length > 0;
  const columns = ["Place", { label: "Rows", number: true } as const];
  return html`
    <section aria-labelledby=${id}>
      <h2 id=${id}>${title}</h2>
      ${
        rows.length === 0
          ? html`<p class="empty">${empty}</p>`
          : html`<${Table}
              caption=${title}
              columns=${hasBefore ? [...columns, { label: "When it began", number: true }] : columns}
              rows=${rows.map(([place, count]) => [html`<code>${place}</code>`, count, ...(hasBefore ? [before[place] ?? ""] : [])])}
            />`
      }
    </section>
  `;
}

function ScanPart({ scan }: { readonly scan: NonNullable<Erasure["report"]["scan"]> }) {
  const listed = (places: Places) =>
    Object.entries(places)
      .map(([place, rows]) => `${place}: ${rows}`)
      .join(", ") || "none";
  return html`
    <section aria-labelledby="scan">
      <h2 id="scan">The second look</h2>
      <${Fields}
        fields=${[
          ["Looked through", `${scan.columns} columns of ${scan.tables} tables`],
          ["Left over", listed(scan.left)],
          ["Traces without content", listed(scan.kept)],
          ["Long texts looked for", String(scan.samples)],
          ["The same text elsewhere", listed(scan.alike)],
          ["Named in other people's messages", listed(scan.mentions)],
        ]}
      />
    </section>
  `;
}

function erasureAddress({ id }: Pick<Erasure, "id">): string {
  return address(`/erasures/${encodeURIComponent(id)}`);
}
