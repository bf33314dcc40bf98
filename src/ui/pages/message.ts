import { html } from "htm/preact";
import type { MessageInContext } from "../../chat/archived.ts";
import type { SourcedFact } from "../../facts/sourced.ts";
import { address, factAddress, messageAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { Conversation } from "../parts/conversation.ts";
import { Fields } from "../parts/fields.ts";
import { PageHead } from "../parts/page-head.ts";
import { channelName, kindName, speakerName } from "../spoken.ts";
import { Text, Time, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";

/** Of a raw payload on the page. */
const PAYLOAD_CHARACTERS = 20_000;

interface MessageProps {
  readonly viewer: Viewer;
  readonly shown: MessageInContext;
}

/** One message: what was said around it, what was learned from it, and how to take it away. */
export function MessagePage({ viewer, shown }: MessageProps) {
  const { message, before, after } = shown;
  const { userId, sentAt, channel } = message;
  const chat = userId === null ? { nobody: true } : { userId };
  const title = `Message of ${speakerName(message)}`;
  // What was learned for the org or a store is not shown to a key of one person.
  const isBound = viewer.principal.pins.userId !== undefined;
  const facts = shown.facts.filter(({ scope }) => !isBound || scope === "user");
  return html`
    <${Layout} title=${title} viewer=${viewer} here="/chat">
      <${PageHead}
        title=${html`Message of <${Text} text=${speakerName(message)} limit=${80} />`}
        trail=${[{ href: address("/chat", chat), label: userId === null ? "Messages of nobody" : "Chat" }]}
        lead=${html`Said on <${Time} at=${new Date(sentAt)} /> in ${channelName(channel)}. Around it stands what was said before and after in the same conversation.`}
      />
      <${Conversation} messages=${[...before, message, ...after]} asked=${message.id} />
      <${Learned} facts=${facts} isOut=${message.optedOut} />
      <${About} shown=${shown} />
      ${shown.payload !== undefined && html`<${Payload} payload=${shown.payload} />`}
      ${
        shown.mayDelete
          ? html`<${DeleteForm} id=${message.id} facts=${facts.length} />`
          : html`<p class="empty">Something was learned from this message that this key may not delete, so it may not delete the message either.</p>`
      }
    <//>
  `;
}

function Learned({
  facts,
  isOut,
}: {
  readonly facts: readonly SourcedFact[];
  readonly isOut: boolean;
}) {
  return html`
    <section aria-labelledby="learned">
      <h2 id="learned">What was learned from it</h2>
      ${
        facts.length === 0
          ? html`<p class="empty">${isOut ? "Nothing: it was kept out of memory." : "Nothing is remembered from this message."}</p>`
          : html`
              <ul class="rows">
                ${facts.map(
                  ({ factId, key, value, counts }) => html`
                    <li class="row">
                      <a class="key" href=${factAddress(factId)}>${key}</a>
                      <${Value} value=${value} limit=${200} />
                      ${!counts && html`<span class="badge">does not count any more</span>`}
                    </li>
                  `,
                )}
              </ul>
            `
      }
    </section>
  `;
}

function About({ shown: { message } }: Pick<MessageProps, "shown">) {
  const { id, kind, account, conversationId, delivery } = message;
  return html`
    <section aria-labelledby="about">
      <h2 id="about">About this message</h2>
      <${Fields}
        fields=${[
          ["Kind", kindName(kind) ?? "Text"],
          account !== "" && ["Account", html`<${Text} text=${account} limit=${120} />`],
          ["Conversation", html`<code><${Text} text=${conversationId} limit=${120} /></code>`],
          delivery !== null && ["Delivery", delivery],
          ["Id", html`<code>${id}</code>`],
        ]}
      />
    </section>
  `;
}

function Payload({ payload }: { readonly payload: unknown }) {
  return html`
    <details>
      <summary>As the channel sent it</summary>
      <pre class="block"><${Text} text=${JSON.stringify(payload, null, 2)} limit=${PAYLOAD_CHARACTERS} /></pre>
    </details>
  `;
}

function DeleteForm({ id, facts }: { readonly id: string; readonly facts: number }) {
  const learned =
    facts === 0
      ? "Nothing was learned from it."
      : "What was learned from it goes too, unless other messages say the same.";
  return html`
    <details>
      <summary>Delete this message for good</summary>
      <form class="stack" method="post" action=${`${messageAddress(id)}/delete`}>
        <p>
          This erases the message here, its earlier versions and what finds it. ${learned} The channel keeps its own copy.
          It cannot be undone.
        </p>
        <label for="delete-reason">Why (optional)</label>
        <input id="delete-reason" name="reason" maxlength="240" dir="auto" aria-describedby="delete-help" />
        <p id="delete-help" class="hint">Is kept after the message is gone: write nothing about the person here.</p>
        <button class="danger">Delete for good</button>
      </form>
    </details>
  `;
}
