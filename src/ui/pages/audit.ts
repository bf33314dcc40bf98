import { html } from "htm/preact";
import type { AuditQuery, AuditRecord } from "../../audit/service.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { Field, FilterForm, Select } from "../parts/filter-form.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { Text, Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { Actor, type KeyNames } from "./actor.ts";
import { DEEDS, detailsOf, nameOfAction, Subject } from "./audit-words.ts";

interface AuditProps {
  readonly viewer: Viewer;
  readonly query: Omit<AuditQuery, "limit">;
  readonly page: { readonly events: readonly AuditRecord[]; readonly nextBefore: string | null };
  readonly names: KeyNames;
}

/** Who did what, to whom, and why. */
export function AuditPage({ viewer, query, page: { events, nextBefore }, names }: AuditProps) {
  const { before, ...filter } = query;
  const isNarrow = Object.values(filter).some((value) => value !== undefined);
  return html`
    <${Layout} title="Audit trail" viewer=${viewer} here="/audit">
      <${PageHead}
        title="Audit trail"
        lead="Everything that was done to people, keys, rules and settings: who did it, when and why. What happened to a fact stands with the fact."
      />
      <${Filter} filter=${filter} names=${names} />
      ${
        events.length === 0
          ? html`<p class="empty">${isNarrow ? "Nothing of that kind was done." : "Nothing was done yet: what people and programs do here will be listed."}</p>`
          : html`<ol class="rows">${events.map((event) => html`<${Event} event=${event} names=${names} />`)}</ol>`
      }
      <${Pager}
        label="Pages of the audit trail"
        back=${before !== undefined && { href: address("/audit", filter), label: "Newest" }}
        on=${nextBefore !== null && { href: address("/audit", { ...filter, before: nextBefore }), label: "Earlier" }}
      />
    <//>
  `;
}

function Filter({
  filter,
  names,
}: {
  readonly filter: Omit<AuditQuery, "limit" | "before">;
  readonly names: KeyNames;
}) {
  const { actor, action, subjectKind, subjectId } = filter;
  const known = actor === undefined || names.has(actor) || actor === "operator";
  return html`
    <${FilterForm} action="/ui/audit" button="Show" keep=${{ subjectKind, subjectId }}>
      <${Field} name="actor" label="Who">
        <${Select}
          name="actor"
          chosen=${actor}
          options=${[
            ["", "anybody"],
            ["operator", "the command line"],
            ...[...names].map(([id, name]) => [id, `key “${name}”`]),
            ...(known ? [] : [[actor, actor]]),
          ]}
        />
      <//>
      <${Field} name="action" label="What">
        <${Select} name="action" chosen=${action} options=${[["", "anything"], ...Object.keys(DEEDS).map((name) => [name, nameOfAction(name)])]} />
      <//>
    <//>
    ${
      subjectId !== undefined &&
      html`<p class="summary">Only what was done to ${subjectKind ?? ""} <code><${Text} text=${subjectId} limit=${200} /></code>. <a href=${address("/audit", { actor, action })}>Show everything</a></p>`
    }
  `;
}

function Event({ event, names }: { readonly event: AuditRecord; readonly names: KeyNames }) {
  const { actor, action, reason, at, subjectKind, subjectId } = event;
  const told = detailsOf(event);
  const deed = Object.hasOwn(DEEDS, action) ? DEEDS[action] : action;
  return html`
    <li class="row entry">
      <p><${Actor} actor=${actor} names=${names} /> ${deed} <${Subject} event=${event} names=${names} />${reason !== null && html`: <q><${Text} text=${reason} /></q>`}</p>
      <p class="muted meta">
        <span><${Time} at=${new Date(at)} /></span>
        ${told !== "" && html`<span><${Text} text=${told} limit=${300} /></span>`}
        ${Object.hasOwn(LASTING, subjectKind) && html`<a href=${address("/audit", { subjectKind, subjectId })}>all about ${LASTING[subjectKind]}</a>`}
      </p>
    </li>
  `;
}

/** What more than one thing happens to. */
const LASTING: Readonly<Record<string, string>> = {
  user: "this person",
  key: "this key",
  channel: "this account",
  link: "this link",
};
