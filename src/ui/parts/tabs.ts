import { html } from "htm/preact";

interface TabsProps {
  /** What the choice is between, for those who hear it. */
  readonly label: string;
  readonly tabs: readonly {
    readonly href: string;
    readonly label: string;
    readonly current: boolean;
  }[];
}

/** A choice between views of one page, as links. */
export function Tabs({ label, tabs }: TabsProps) {
  return html`
    <nav class="tabs" aria-label=${label}>
      ${tabs.map(({ href, label, current }) => html`<a href=${href} aria-current=${current ? "true" : undefined}>${label}</a>`)}
    </nav>
  `;
}
