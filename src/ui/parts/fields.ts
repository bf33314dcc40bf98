import { html } from "htm/preact";
import type { ComponentChildren } from "preact";

interface FieldsProps {
  /** A name and what stands for it; false, null and undefined are left out. */
  readonly fields: readonly (
    | readonly [name: string, value: ComponentChildren]
    | false
    | null
    | undefined
  )[];
}

/** What is known of one thing, as names and values. */
export function Fields({ fields }: FieldsProps) {
  return html`
    <dl class="details">
      ${fields.map((field) => field && html`<div><dt>${field[0]}</dt><dd>${field[1]}</dd></div>`)}
    </dl>
  `;
}
