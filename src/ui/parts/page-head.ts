import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { Notice } from "../pages/notice.ts";

interface Crumb {
  readonly href: string;
  readonly label: ComponentChildren;
}

interface PageHeadProps {
  readonly title: ComponentChildren;
  /** The pages above this one, outermost first. */
  readonly trail?: readonly Crumb[];
  /** One or two sentences: what this page shows. */
  readonly lead?: ComponentChildren;
  /** What was done just now, as the address says it. */
  readonly done?: string | undefined;
  /** Set when the title is an identifier rather than words. */
  readonly mono?: boolean;
  /** Badges and actions beside the title. */
  readonly children?: ComponentChildren;
}

/** The beginning of a page: where it stands, what it is called, what was just done. */
export function PageHead({ title, trail = [], lead, done, mono = false, children }: PageHeadProps) {
  return html`
    <div class="page-head">
      ${
        trail.length > 0 &&
        html`
          <nav class="trail" aria-label="Where you are">
            <ol>
              ${trail.map(({ href, label }) => html`<li><a href=${href}>${label}</a></li>`)}
            </ol>
          </nav>
        `
      }
      <div class="title">
        <h1 class=${mono ? "key" : undefined}>${title}</h1>
        ${children}
      </div>
      ${lead && html`<p class="lead">${lead}</p>`}
      <${Notice} done=${done} />
    </div>
  `;
}
