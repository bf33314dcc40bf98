import { html } from "htm/preact";

interface FiguresProps {
  readonly figures: readonly {
    readonly label: string;
    readonly value: string;
    readonly href?: string | undefined;
  }[];
}

/** Numbers side by side, each with what it counts. */
export function Figures({ figures }: FiguresProps) {
  return html`
    <dl class="figures">
      ${figures.map(
        ({ label, value, href }) => html`
          <div>
            <dt>${href === undefined ? label : html`<a href=${href}>${label}</a>`}</dt>
            <dd>${value}</dd>
          </div>
        `,
      )}
    </dl>
  `;
}

const GROUPED = new Intl.NumberFormat("en-GB");

/** A number as people write it: 12,500. From `limit` on nobody counted any further. */
export function figure(value: number, limit = Number.POSITIVE_INFINITY): string {
  return value < limit ? GROUPED.format(value) : `${GROUPED.format(limit)} or more`;
}
