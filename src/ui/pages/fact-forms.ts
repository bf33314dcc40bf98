import { html } from "htm/preact";
import type { FactRecord } from "../../facts/record.ts";
import { address } from "../address.ts";
import { Text } from "../text.ts";
import { type RefusedEdit, writeValue } from "../value-form.ts";

interface FormsProps {
  readonly fact: FactRecord;
  readonly refused: RefusedEdit | undefined;
}

/** What a person can do with a fact. */
export function FactForms({ fact, refused }: FormsProps) {
  return html`
    <section class="forms" aria-labelledby="change">
      <h2 id="change">Change it</h2>
      <form class="together" method="post" action=${actionOf(fact)}>
        ${decisionsFor(fact).map(([decision, label]) => html`<button class="quiet" name="decision" value=${decision}>${label}</button>`)}
      </form>
      <${EditForm} fact=${fact} refused=${refused} />
      <${DeleteForm} fact=${fact} />
    </section>
  `;
}

/** A fact that is put away neither fades nor expires for being pinned: it has to be taken back first. */
function decisionsFor({
  state,
  pinned,
}: FactRecord): (readonly [decision: string, label: string])[] {
  if (state === "expired") return [];
  const pin = pinned ? (["unpin", "Unpin"] as const) : (["pin", "Pin: never let it fade"] as const);
  return state === "live"
    ? [pin, ["archive", "Put away"]]
    : [["restore", "Take back"], ...(pinned ? [pin] : [])];
}

function EditForm({ fact, refused }: FormsProps) {
  const { kind, text } = refused?.written ?? writeValue(fact.value);
  const kinds = [
    ["text", "Text, kept as it stands"],
    ["json", "JSON: a number, true, false, null, a list or an object"],
  ] as const;
  return html`
    <details open=${refused !== undefined}>
      <summary>Edit the value</summary>
      <form class="stack" method="post" action=${actionOf(fact, "/edit")}>
        ${refused && html`<p class="notice bad" role="alert" id="fault"><${Text} text=${refused.fault} limit=${400} /></p>`}
        <label for="value">Value</label>
        <textarea
          id="value"
          name="value"
          rows=${Math.min(12, Math.max(3, text.split("\n").length))}
          dir="auto"
          required
          aria-describedby=${refused && "fault"}
        >${`\n${text}`}</textarea>
        <fieldset>
          <legend>Keep it as</legend>
          ${kinds.map(([name, label]) => html`<label class="choice"><input type="radio" name="kind" value=${name} checked=${name === kind} /> ${label}</label>`)}
        </fieldset>
        <label for="edit-reason">Why (optional)</label>
        <input id="edit-reason" name="reason" maxlength="240" dir="auto" value=${refused?.reason ?? ""} />
        <button>Save</button>
      </form>
    </details>
  `;
}

function DeleteForm({ fact }: Pick<FormsProps, "fact">) {
  return html`
    <details id="delete">
      <summary>Delete for good</summary>
      <form class="stack" method="post" action=${actionOf(fact, "/delete")}>
        <p>
          This erases the fact, every statement that says the same under its key, and what the history tells of them. It
          cannot be undone.
        </p>
        <label for="delete-reason">Why</label>
        <input id="delete-reason" name="reason" maxlength="240" dir="auto" required aria-describedby="delete-help" />
        <p id="delete-help" class="hint">Is kept after the fact is gone: write nothing about the person here.</p>
        <button class="danger">Delete for good</button>
      </form>
    </details>
  `;
}

function actionOf({ factId }: FactRecord, action = ""): string {
  return address(`/facts/${factId}${action}`);
}
