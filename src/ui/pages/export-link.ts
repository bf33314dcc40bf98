import { html } from "htm/preact";
import type { Place } from "../../facts/review.ts";
import { address } from "../address.ts";
import { Text } from "../text.ts";

interface ExportLinkProps {
  readonly place: Place;
  /** Whose facts: several of these links on one page have to be told apart by those who only hear them. */
  readonly name: string;
}

export function ExportLink({ place: { scope, userId, storeId }, name }: ExportLinkProps) {
  const href = address("/export", { userId, storeId, org: scope === "org" ? "1" : undefined });
  return html`<a class="aside" href=${href} download>Export JSON<span class="hidden"> of <${Text} text=${name} limit=${80} /></span></a>`;
}
