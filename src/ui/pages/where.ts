import { html } from "htm/preact";
import { mayExport } from "../../export/reach.ts";
import type { PeoplePage } from "../../users/people.ts";
import type { PersonCard } from "../../users/person.ts";
import { address, listAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
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
        <${PersonList} people=${people.people} />
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
        <form class="search" method="get" action="/ui/facts" role="search">
          <label for="search">Name, @username or id</label>
          <div class="together">
            <input id="search" name="search" type="search" maxlength="320" value=${search ?? ""} dir="auto" />
            <button>Search</button>
          </div>
        </form>
        <${PersonList} people=${people.people} search=${search} />
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

interface PersonListProps {
  readonly people: readonly PersonCard[];
  readonly search?: string | undefined;
}

function PersonList({ people, search }: PersonListProps) {
  if (people.length === 0) {
    return html`<p class="empty">${search ? "Nobody is known by that name or id." : "Nobody is known yet."}</p>`;
  }
  return html`
    <ul class="rows">
      ${people.map((person) => {
        const place = { scope: "user", userId: person.id } as const;
        return html`
          <li class="row">
            <a class="row-name" href=${listAddress(place)}><${Text} text=${nameOf(person)} limit=${80} /></a>
            <span class="muted"><${Text} text=${otherNames(person)} limit=${120} /></span>
            ${person.role === "operator" && html`<span class="badge">operator</span>`}
            ${person.status !== "approved" && html`<span class="badge">${person.status}</span>`}
            <${ExportLink} place=${place} name=${nameOf(person)} />
          </li>
        `;
      })}
    </ul>
  `;
}

function otherNames(person: PersonCard): string {
  const name = nameOf(person);
  return person.identities.filter((identity) => identity !== name).join(", ");
}
