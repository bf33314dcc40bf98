import { html } from "htm/preact";
import { mayExport } from "../../export/reach.ts";
import type { PeoplePage } from "../../users/people.ts";
import type { PersonCard } from "../../users/person.ts";
import { address, listAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { PeopleFilter, PeopleRows } from "../parts/people-list.ts";
import { nameOf } from "../places.ts";
import { Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { ExportLink } from "./export-link.ts";

interface WhereProps {
  readonly viewer: Viewer;
  readonly stores: readonly { readonly id: string; readonly name: string; readonly slug: string }[];
  readonly people: PeoplePage;
  readonly search: string | undefined;
  /** Whether this is not the first page of people. */
  readonly isLater: boolean;
}

/** Whose facts to look at. */
export function WherePage({ viewer, stores, people, search, isLater }: WhereProps) {
  const { principal } = viewer;
  if (principal.pins.userId !== undefined) {
    return html`
      <${Layout} title="Facts" viewer=${viewer} here="/facts">
        <${PageHead} title="Whose facts" lead="This key is bound to one person." />
        <${Everybody} viewer=${viewer} people=${people} />
      <//>
    `;
  }
  const org = { scope: "org" } as const;
  return html`
    <${Layout} title="Facts" viewer=${viewer} here="/facts">
      <${PageHead}
        title="Whose facts"
        lead="Facts belong to the org, to one of its stores, or to a person. Choose whose to look through."
      />
      <section aria-labelledby="org">
        <h2 id="org">The org</h2>
        <ul class="rows">
          <li class="row">
            <a class="row-name" href=${listAddress(org)}>Facts of the org</a>
            ${mayExport(principal, "org") && html`<${ExportLink} place=${org} name="the org" />`}
          </li>
        </ul>
      </section>
      ${stores.length > 0 && html`<${Stores} stores=${stores} viewer=${viewer} />`}
      <section aria-labelledby="people">
        <h2 id="people">People</h2>
        <${PeopleFilter} action="/ui/facts" search=${search} />
        <${Everybody} viewer=${viewer} people=${people} search=${search} />
        <${Pager}
          label="Pages of people"
          back=${isLater && { href: address("/facts", { search }), label: "Newest people" }}
          on=${people.nextBefore !== null && { href: address("/facts", { search, before: people.nextBefore }), label: "Earlier people" }}
        />
      </section>
    <//>
  `;
}

function Stores({ stores, viewer }: Pick<WhereProps, "stores" | "viewer">) {
  return html`
    <section aria-labelledby="stores">
      <h2 id="stores">Stores</h2>
      <ul class="rows">
        ${stores.map(({ id, name, slug }) => {
          const place = { scope: "store", storeId: id } as const;
          return html`
            <li class="row">
              <a class="row-name" href=${listAddress(place)}><${Text} text=${name} /></a>
              <span class="muted"><${Text} text=${slug} /></span>
              ${mayExport(viewer.principal, "store") && html`<${ExportLink} place=${place} name=${name} />`}
            </li>
          `;
        })}
      </ul>
    </section>
  `;
}

function Everybody({ viewer, people, search }: Pick<WhereProps, "viewer" | "people" | "search">) {
  const placeOf = (userId: string) => ({ scope: "user", userId }) as const;
  const take = (person: PersonCard) =>
    html`<span><${ExportLink} place=${placeOf(person.id)} name=${nameOf(person)} /></span>`;
  return html`<${PeopleRows}
    people=${people.people}
    isNarrow=${Boolean(search)}
    hrefOf=${(userId: string) => listAddress(placeOf(userId))}
    actions=${mayExport(viewer.principal, "user") ? take : undefined}
  />`;
}
