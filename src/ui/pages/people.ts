import { html } from "htm/preact";
import { isAdmin } from "../../access/principal.ts";
import type { PeoplePage, PeopleQuery } from "../../users/people.ts";
import type { PersonCard } from "../../users/person.ts";
import { address, personAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { PeopleFilter, PeopleRows } from "../parts/people-list.ts";
import type { Viewer } from "../viewer.ts";
import { StatusForm } from "./status-form.ts";

interface PeopleProps {
  readonly viewer: Viewer;
  readonly found: PeoplePage;
  /** Those who wait for approval, on the first page of everybody; they stand before the others. */
  readonly waiting: PeoplePage | undefined;
  readonly query: PeopleQuery;
  readonly done: string | undefined;
}

/** Everybody who is known. */
export function PeopleScreen({ viewer, found, waiting, query, done }: PeopleProps) {
  const { search, status, before } = query;
  const at = (before?: string | null) => address("/people", { search, status, before });
  const isNarrow = Boolean(search) || status !== undefined;
  const mayDecide = isAdmin(viewer.principal);
  const decide = (person: PersonCard) =>
    mayDecide &&
    person.status === "pending" &&
    html`
      <div class="decide">
        <details>
          <summary>Decide</summary>
          <${StatusForm} person=${person} from="list" />
        </details>
      </div>
    `;
  const hrefOf = (id: string) => personAddress(id);
  return html`
    <${Layout} title="People" viewer=${viewer} here="/people">
      <${PageHead}
        title="People"
        lead=${viewer.principal.pins.userId === undefined ? "Everybody who has written or was written about, the newest first." : "This key is bound to one person."}
        done=${done}
      />
      ${viewer.principal.pins.userId === undefined && html`<${PeopleFilter} live="#list" action="/ui/people" search=${search} status=${status ?? ""} />`}
      <div id="list">
      ${
        waiting &&
        waiting.people.length > 0 &&
        html`
          <section aria-labelledby="waiting">
            <h2 id="waiting">Waiting for approval</h2>
            <p class="hint">Nothing is learned from them, and no agent hears of them, until somebody approves.</p>
            <${PeopleRows} people=${waiting.people} isNarrow hrefOf=${hrefOf} actions=${decide} />
            ${waiting.nextBefore !== null && html`<p class="summary"><a href=${address("/people", { status: "pending" })}>All who wait</a></p>`}
          </section>
          <h2>Everybody</h2>
        `
      }
      <${PeopleRows} people=${found.people} isNarrow=${isNarrow} hrefOf=${hrefOf} actions=${waiting ? undefined : decide} />
      <${Pager}
        label="Pages of people"
        back=${before !== undefined && { href: at(), label: "Newest people" }}
        on=${found.nextBefore !== null && { href: at(found.nextBefore), label: "Earlier people" }}
      />
      </div>
    <//>
  `;
}
