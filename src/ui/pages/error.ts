import { html } from "htm/preact";
import { Layout } from "../layout.ts";
import type { Viewer } from "../viewer.ts";

interface ErrorProps {
  readonly title: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly viewer: Viewer | undefined;
}

export function ErrorPage({ title, message, hint, viewer }: ErrorProps) {
  return html`
    <${Layout} title=${title} viewer=${viewer}>
      <div class="narrow">
        <h1>${title}</h1>
        <p>${message}</p>
        ${hint && html`<p>${hint}</p>`}
        <p><a href="/ui">To the start of the memory page</a></p>
      </div>
    <//>
  `;
}
