import { html } from "htm/preact";
import type { KeyInfo } from "../../access/service.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface KeyMadeProps {
  readonly viewer: Viewer;
  readonly secret: string;
  readonly info: KeyInfo;
}

/** The only page that ever shows a key. */
export function KeyMadePage({ viewer, secret, info }: KeyMadeProps) {
  return html`
    <${Layout} title="Key made" viewer=${viewer} here="/keys">
      <${PageHead} title="Copy it now" trail=${[{ href: address("/keys"), label: "Keys" }]} />
      <p>This is the key “<${Text} text=${info.name} />” (${info.role}). It is not kept and cannot be shown again.</p>
      <pre class="block secret" tabindex="0" role="group" aria-label="The key"><code>${secret}</code></pre>
      <p class="hint">An agent sends it as <code>Authorization: Bearer …</code>; a person signs in to this page with it.</p>
      <p><a class="button quiet" href=${address("/keys")}>I have copied it</a></p>
    <//>
  `;
}
