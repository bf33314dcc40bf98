import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { liveFilter } from "../live.ts";

interface FilterFormProps {
  /** The page that lists; the form asks for it again with what was chosen. */
  readonly action: string;
  /** What is kept of the address beside what the form asks for. */
  readonly keep?: Readonly<Record<string, string | number | undefined>>;
  readonly button?: string;
  /** The selector of the list, to be replaced while somebody types; absent = by the button alone. */
  readonly live?: string;
  readonly children?: ComponentChildren;
}

/** Narrows a list: a plain GET of the same page. */
export function FilterForm({
  action,
  keep = {},
  button = "Search",
  live,
  children,
}: FilterFormProps) {
  return html`
    <form class="filter" method="get" action=${action} role="search" ...${live && liveFilter(action, live)}>
      ${Object.entries(keep).map(([name, value]) => value !== undefined && html`<input type="hidden" name=${name} value=${value} />`)}
      ${children}
      <button>${button}</button>
    </form>
  `;
}

interface FieldProps {
  /** Also the id of the field. */
  readonly name: string;
  readonly label: string;
  readonly wide?: boolean;
  /** An input or select whose id is `name`. */
  readonly children?: ComponentChildren;
}

/** A field of a filter with its label. */
export function Field({ name, label, wide = false, children }: FieldProps) {
  return html`
    <div class=${wide ? "field wide" : "field"}>
      <label for=${name}>${label}</label>
      ${children}
    </div>
  `;
}

interface SelectProps {
  readonly name: string;
  readonly chosen: string | undefined;
  readonly options: readonly (readonly [value: string, label: string])[];
}

export function Select({ name, chosen, options }: SelectProps) {
  return html`
    <select id=${name} name=${name}>
      ${options.map(([value, label]) => html`<option value=${value} selected=${value === (chosen ?? "")}>${label}</option>`)}
    </select>
  `;
}
