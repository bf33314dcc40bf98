import { html } from "htm/preact";
import type { ComponentChildren } from "preact";

interface TableProps {
  /** What the table holds, for those who hear it. */
  readonly caption: string;
  readonly columns: readonly (string | { readonly label: string; readonly number: true })[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}

/**
 * A table that becomes one block a row on a narrow screen. The roles are said because a browser takes them from a table
 * that is not laid out as one.
 */
export function Table({ caption, columns, rows }: TableProps) {
  const heads = columns.map((column) => (typeof column === "string" ? { label: column } : column));
  const kind = (at: number) => {
    const head = heads[at];
    return head !== undefined && "number" in head ? "number" : undefined;
  };
  return html`
    <table role="table">
      <caption class="hidden">${caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          ${heads.map(({ label }, at) => html`<th role="columnheader" scope="col" class=${kind(at)}>${label}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          (cells) => html`
            <tr role="row">
              ${cells.map((cell, at) => html`<td role="cell" class=${kind(at)} data-label=${heads[at]?.label}>${cell}</td>`)}
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}
