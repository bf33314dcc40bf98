import { html } from "htm/preact";
import type { PendingCorrection } from "../../turns/service.ts";
import { address, messageAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { type Names, nameIn } from "../places.ts";
import { channelName } from "../spoken.ts";
import { Day, Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { InboxTabs } from "./inbox-tabs.ts";

const WORDS = 600;

interface CorrectionsProps {
  readonly viewer: Viewer;
  readonly corrections: readonly PendingCorrection[];
  readonly names: Names;
  readonly done: string | undefined;
}

/** What people corrected and nothing was learned from. */
export function CorrectionsPage({ viewer, corrections, names, done }: CorrectionsProps) {
  return html`
    <${Layout} title="Corrections" viewer=${viewer} here="/inbox">
      <${PageHead}
        title="Inbox"
        lead="People corrected the assistant here, and nothing was learned from it: there was no extractor, or it gave up."
        done=${done}
      />
      <${InboxTabs} viewer=${viewer} current="corrections" />
      ${
        corrections.length === 0
          ? html`<p class="empty">Nothing waits here. Without an extractor, messages such as “No, I am allergic to nuts” come to this page.</p>`
          : corrections.map(
              (one) =>
                html`<${One} correction=${one} name=${nameIn(names, { scope: "user", userId: one.turn.userId })} />`,
            )
      }
    <//>
  `;
}

function One({
  correction,
  name,
}: {
  readonly correction: PendingCorrection;
  readonly name: string;
}) {
  const { turn, corrects, messages } = correction;
  const said = messages.filter(({ direction }) => direction === "inbound");
  const title = `correction-${turn.id}`;
  const field = (name: string) => `${name}-${turn.id}`;
  return html`
    <section class="sheet" aria-labelledby=${title}>
      <h2 id=${title}><${Text} text=${name} limit=${80} /> corrected the assistant</h2>
      <p class="muted">On <${Day} at=${turn.openedAt} /> in ${channelName(turn.channel)}.</p>
      ${corrects !== null && html`<p class="muted">The assistant had said:</p><blockquote dir="auto"><${Text} text=${corrects} limit=${WORDS} /></blockquote>`}
      <p class="muted">The person answered:</p>
      ${said.map(({ id, text }) => html`<blockquote dir="auto"><${Text} text=${text ?? ""} limit=${WORDS} /></blockquote><p><a href=${messageAddress(id)}>Show it in the chat</a></p>`)}
      <form class="stack" method="post" action=${address(`/inbox/corrections/${turn.id}`)}>
        <label for=${field("key")}>What it is about</label>
        <input id=${field("key")} name="key" maxlength="80" pattern="[a-z0-9_]+(\\.[a-z0-9_]+)*" placeholder="food.allergies" autocapitalize="off" spellcheck="false" required />
        <label for=${field("value")}>What is true</label>
        <textarea id=${field("value")} name="value" rows="2" dir="auto" required></textarea>
        <button>Remember it</button>
      </form>
      <form method="post" action=${address(`/inbox/corrections/${turn.id}/dismiss`)}>
        <button class="quiet">Nothing to remember<span class="hidden"> of what <${Text} text=${name} limit=${80} /> said</span></button>
      </form>
    </section>
  `;
}
