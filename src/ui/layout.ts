import { html } from "htm/preact";
import type { ComponentChildren, VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { address } from "./address.ts";
import { navigationOf } from "./navigation.ts";
import { SCRIPT_ADDRESS, SCRIPT_SETTINGS } from "./script.ts";
import { STYLE_ADDRESS } from "./style.ts";
import type { Viewer } from "./viewer.ts";

interface LayoutProps {
  readonly title: string;
  readonly viewer: Viewer | undefined;
  /** The path of the menu's entry that this page belongs to. */
  readonly here?: string | undefined;
  readonly children?: ComponentChildren;
}

/** The frame of every page. */
export function Layout({ title, viewer, here, children }: LayoutProps) {
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
        ${viewer && html`<meta name="htmx-config" content=${SCRIPT_SETTINGS} /><script src=${SCRIPT_ADDRESS} defer></script>`}
      </head>
      <body class=${viewer ? "framed" : "bare"}>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/ui">Souvenir</a>
          ${viewer && html`<button class="menu" type="button" popovertarget="menu">Menu</button>`}
        </header>
        ${viewer && html`<${Menu} viewer=${viewer} here=${here} />`}
        <main id="main" tabindex="-1">${children}</main>
        ${viewer && html`<p id="said" aria-live="polite" class="hidden"></p>`}
      </body>
    </html>
  `;
}

type MenuProps = Pick<LayoutProps, "here"> & { readonly viewer: Viewer };

/** Beside the page where there is room, else opened by the button in the top bar: a popover needs no script for it. */
function Menu({ viewer, here }: MenuProps) {
  return html`
    <aside class="side" id="menu" popover aria-label="Menu">
      <nav aria-label="Screens">
        <ul class="links">
          <${MenuLink} path="" label="Overview" here=${here} />
        </ul>
        ${navigationOf(viewer.principal).map(
          ({ label, entries }) => html`
            <h2 class="group">${label}</h2>
            <ul class="links">
              ${entries.map(({ path, label }) => html`<${MenuLink} path=${path} label=${label} here=${here} />`)}
            </ul>
          `,
        )}
      </nav>
      <${Account} viewer=${viewer} />
    </aside>
  `;
}

interface MenuLinkProps {
  readonly path: string;
  readonly label: string;
  readonly here: string | undefined;
}

function MenuLink({ path, label, here }: MenuLinkProps) {
  return html`<li><a href=${address(path)} aria-current=${path === here ? "page" : undefined}>${label}</a></li>`;
}

function Account({ viewer: { principal, token } }: { readonly viewer: Viewer }) {
  const { role, pins } = principal;
  const bound = Object.keys(pins).length > 0 ? "pinned " : "";
  if (token === undefined) return html`<p class="account">Open to this machine (AUTH=none)</p>`;
  return html`
    <form class="account" method="post" action="/ui/sign-out">
      <span>${bound}${role} key</span>
      <button class="quiet small">Sign out</button>
    </form>
  `;
}

/** A page as HTML text. */
export function render(page: VNode): string {
  return `<!doctype html>${renderToString(page)}`;
}
