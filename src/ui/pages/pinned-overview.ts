import { html } from "htm/preact";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import type { Viewer } from "../viewer.ts";

/** For a key that is bound to a store or an agent: numbers of the whole org are not its to see. */
export function PinnedOverviewPage({ viewer }: { readonly viewer: Viewer }) {
  const { storeId, agentId } = viewer.principal.pins;
  const bound = [storeId && "one store", agentId && `the agent ${agentId}`].filter(Boolean);
  return html`
    <${Layout} title="Overview" viewer=${viewer} here="">
      <${PageHead} title="Overview" lead=${`This key is bound to ${bound.join(" and ")}.`} />
      <p><a class="button" href=${address("/facts")}>Look through the facts</a></p>
    <//>
  `;
}
