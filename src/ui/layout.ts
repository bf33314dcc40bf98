import { html } from "htm/preact";
import type { ComponentChildren, VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { STYLE_ADDRESS } from "./style.ts";
import type { Viewer } from "./viewer.ts";

interface LayoutProps {
  readonly title: string;
  readonly viewer: Viewer | undefined;
  readonly children?: ComponentChildren;
}

/** The frame of every page. */
export function Layout({ title, viewer, children }: LayoutProps) {
  return html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title} · Souvenir</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href=${STYLE_ADDRESS} />
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <a class="brand" href="/ui">Souvenir</a>
          ${viewer && html`<${Account} viewer=${viewer} />`}
        </header>
        <main id="main">${children}</main>
      </body>
    </html>
  `;
}

function Account({ viewer: { principal, token } }: { readonly viewer: Viewer }) {
  const { role, pins } = principal;
  const bound = Object.keys(pins).length > 0 ? "pinned " : "";
  if (token === undefined) return html`<p class="account">Open to this machine (AUTH=none)</p>`;
  return html`
    <form class="account" method="post" action="/ui/sign-out">
      <span>${bound}${role} key</span>
      <button class="quiet">Sign out</button>
    </form>
  `;
}

/** A page as HTML text. */
export function render(page: VNode): string {
  return `<!doctype html>${renderToString(page)}`;
}
