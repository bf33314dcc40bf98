import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { Text } from "../text.ts";

interface ConfirmFormProps {
  readonly action: string;
  /** What has to be typed; the server compares it. */
  readonly word: string;
  /** What the button says that it does. */
  readonly button: string;
  /** Told apart from other such forms on the page. */
  readonly id: string;
  readonly fault?: string | undefined;
  /** What will happen, and further fields. */
  readonly children?: ComponentChildren;
}

/** A form for what cannot be undone: it says what will happen, and asks for a name to be typed. Sends it as `confirm`. */
export function ConfirmForm({ action, word, button, id, fault, children }: ConfirmFormProps) {
  const field = `${id}-confirm`;
  return html`
    <form class="stack confirm" method="post" action=${action}>
      ${fault && html`<p class="notice bad" role="alert" id=${`${id}-fault`}><${Text} text=${fault} limit=${400} /></p>`}
      ${children}
      <label for=${field}>Type <code><${Text} text=${word} /></code> to go on</label>
      <input
        id=${field}
        name="confirm"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        dir="auto"
        required
        aria-describedby=${fault && `${id}-fault`}
      />
      <button class="danger">${button}</button>
    </form>
  `;
}
