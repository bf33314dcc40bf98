import { html } from "htm/preact";
import type { UserStatus } from "../../users/person.ts";
import { personAddress } from "../address.ts";

interface StatusFormProps {
  readonly person: { readonly id: string; readonly status: UserStatus };
  /** Where to go on afterwards. */
  readonly from: "list" | "person";
}

const CHOICES = {
  approved: "Approve",
  blocked: "Block",
  pending: "Let wait again",
} as const;

/** Lets an admin decide about a person, with a reason. */
export function StatusForm({ person: { id, status }, from }: StatusFormProps) {
  const choices = (["approved", "blocked", "pending"] as const).filter((one) => one !== status);
  const field = `reason-${id}`;
  return html`
    <form class="stack" method="post" action=${personAddress(id, {}, "/status")}>
      <input type="hidden" name="from" value=${from} />
      <label for=${field}>Why</label>
      <input id=${field} name="reason" maxlength="240" required dir="auto" aria-describedby=${`${field}-help`} />
      <p id=${`${field}-help`} class="hint">Is kept in the audit trail.</p>
      <div class="together">
        ${choices.map((one) => html`<button class=${one === "approved" ? undefined : one === "blocked" ? "danger" : "quiet"} name="status" value=${one}>${CHOICES[one]}</button>`)}
      </div>
    </form>
  `;
}
