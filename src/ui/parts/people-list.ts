import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import type { PersonCard, UserStatus } from "../../users/person.ts";
import { nameOf, otherNames } from "../places.ts";
import { Day, Text } from "../text.ts";
import { Field, FilterForm, Select } from "./filter-form.ts";

interface PeopleFilterProps {
  readonly action: string;
  readonly search: string | undefined;
  /** Absent where people of every status are meant. */
  readonly status?: UserStatus | "" | undefined;
  /** The selector of the list, to be replaced while somebody types. */
  readonly live?: string;
}

export function PeopleFilter({ action, search, status, live }: PeopleFilterProps) {
  return html`
    <${FilterForm} action=${action} live=${live}>
      <${Field} name="search" label="Name, @username or id" wide>
        <input id="search" name="search" type="search" maxlength="320" value=${search ?? ""} dir="auto" />
      <//>
      ${
        status !== undefined &&
        html`
          <${Field} name="status" label="Status">
            <${Select} name="status" chosen=${status} options=${STATUSES} />
          <//>
        `
      }
    <//>
  `;
}

const STATUSES = [
  ["", "Everybody"],
  ["pending", "Waiting for approval"],
  ["approved", "Approved"],
  ["blocked", "Blocked"],
] as const;

interface PeopleRowsProps {
  readonly people: readonly PersonCard[];
  readonly isNarrow: boolean;
  readonly hrefOf: (userId: string) => string;
  /** What can be done with each. */
  readonly actions?: ((person: PersonCard) => ComponentChildren) | undefined;
}

export function PeopleRows({ people, isNarrow, hrefOf, actions }: PeopleRowsProps) {
  if (people.length === 0) {
    return html`<p class="empty">${isNarrow ? "Nobody is known by that name or id." : "Nobody is known yet. People become known with their first message."}</p>`;
  }
  return html`
    <ul class="rows">
      ${people.map(
        (person) => html`
          <li class="row">
            <a class="row-name" href=${hrefOf(person.id)}><${Text} text=${nameOf(person)} limit=${80} /></a>
            <${PersonBadges} person=${person} />
            <span class="muted"><${Text} text=${otherNames(person)} limit=${120} /></span>
            <span class="muted aside">since <${Day} at=${new Date(person.createdAt)} /></span>
            ${actions?.(person)}
          </li>
        `,
      )}
    </ul>
  `;
}

type Standing = Pick<PersonCard, "status" | "role">;

export function PersonBadges({ person: { status, role } }: { readonly person: Standing }) {
  return html`
    ${role === "operator" && html`<span class="badge">operator</span>`}
    ${status === "pending" && html`<span class="badge warn">waiting for approval</span>`}
    ${status === "blocked" && html`<span class="badge bad">blocked</span>`}
  `;
}
