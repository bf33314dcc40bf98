import { html } from "htm/preact";

interface PagerProps {
  /** Of what these are the pages, for those who hear it: "Pages of facts". */
  readonly label: string;
  /** Towards the beginning of the list. */
  readonly back?: PageLink | false | undefined;
  /** Towards its end. */
  readonly on?: PageLink | false | undefined;
}

interface PageLink {
  readonly href: string;
  readonly label: string;
}

/** The links between the pages of a list; nothing where it has one page. */
export function Pager({ label, back, on }: PagerProps) {
  if (!back && !on) return null;
  return html`
    <nav class="pages" aria-label=${label}>
      ${back && html`<a rel="prev" href=${back.href}>${back.label}</a>`}
      ${on && html`<a rel="next" href=${on.href}>${on.label}</a>`}
    </nav>
  `;
}
