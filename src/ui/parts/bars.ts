import { html } from "htm/preact";

interface BarProps {
  readonly label: string;
  /** Null: this way of searching found nothing. */
  readonly value: number | null;
  /** The upper end of the scale. */
  readonly max?: number;
}

/** A number with its share of a scale, small enough for many of them. */
export function Bar({ label, value, max = 1 }: BarProps) {
  const width = value === null ? 0 : Math.round(Math.min(1, Math.max(0, value / max)) * 1000) / 10;
  return html`
    <div>
      <dt>${label}</dt>
      <dd>
        <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
          <rect class="bar-ground" width="100" height="6" />
          <rect class="bar-value" width=${width} height="6" />
        </svg>
        ${value === null ? "none" : value.toFixed(2)}
      </dd>
    </div>
  `;
}

interface SharesProps {
  readonly parts: readonly { readonly label: string; readonly value: number }[];
  readonly total: number;
}

/** How much of a whole its parts take, as one bar; the words and numbers stand beside it. */
export function Shares({ parts, total }: SharesProps) {
  let at = 0;
  return html`
    <svg class="shares" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="bar-ground" width="1000" height="20" />
      ${parts.map(({ value }, n) => {
        const width = Math.round((value / Math.max(1, total)) * 1000);
        const x = at;
        at += width;
        return html`<rect class=${`share-${n + 1}`} x=${x} width=${width} height="20" />`;
      })}
    </svg>
  `;
}

/** The colour of a part of `Shares`, beside its name. */
export function Swatch({ part }: { readonly part: number }) {
  return html`
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" focusable="false">
      <rect class=${`share-${part}`} width="10" height="10" rx="2" />
    </svg>
  `;
}
