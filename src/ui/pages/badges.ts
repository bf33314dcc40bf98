import { html } from "htm/preact";
import type { ListedFact } from "../../facts/listing.ts";

type Marked = Pick<ListedFact, "pinned" | "contested" | "archivedReason">;

/** What a glance has to show of a fact. */
export function Badges({ fact: { pinned, contested, archivedReason } }: { readonly fact: Marked }) {
  return html`
    ${pinned && html`<span class="badge good">pinned</span>`}
    ${contested && html`<span class="badge bad">contested</span>`}
    ${archivedReason !== null && html`<span class="badge">${AWAY[archivedReason]}</span>`}
  `;
}

const AWAY: Readonly<Record<NonNullable<ListedFact["archivedReason"]>, string>> = {
  merged: "merged",
  superseded: "superseded",
  faded: "faded",
  edited: "edited since",
  archived: "put away",
  withdrawn: "message edited",
};
