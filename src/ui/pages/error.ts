import { html } from "htm/preact";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
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
        <${PageHead} title=${title} lead=${message} />
        ${hint && html`<p>${hint}</p>`}
        <p><a href="/ui">To the start of the memory page</a></p>
      </div>
    <//>
  `;
}
