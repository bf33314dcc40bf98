import { html } from "htm/preact";
import { isAdmin } from "../../access/principal.ts";
import { address } from "../address.ts";
import { Tabs } from "../parts/tabs.ts";
import type { Viewer } from "../viewer.ts";

interface InboxTabsProps {
  readonly viewer: Viewer;
  readonly current: "contradictions" | "corrections";
}

/** Corrections are shown to admins alone: their messages may be of anybody. */
export function InboxTabs({ viewer, current }: InboxTabsProps) {
  if (!isAdmin(viewer.principal)) return null;
  return html`<${Tabs}
    label="What waits"
    tabs=${[
      { href: address("/inbox"), label: "Contradictions", current: current === "contradictions" },
      {
        href: address("/inbox/corrections"),
        label: "Corrections",
        current: current === "corrections",
      },
    ]}
  />`;
}
