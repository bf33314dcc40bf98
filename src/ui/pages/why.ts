import { html } from "htm/preact";
import type { ScoreCurve } from "../../facts/curve.ts";
import type { Explanation } from "../../facts/explanation.ts";
import type { FactRecord } from "../../facts/record.ts";
import { factAddress } from "../address.ts";
import { Plot } from "../parts/plot.ts";
import { Said } from "../parts/source.ts";
import { Day, Time, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { Actor, type KeyNames } from "./actor.ts";

interface WhyProps {
  readonly explanation: Explanation;
  readonly viewer: Viewer;
  readonly names: KeyNames;
}

/** Why a fact is believed: who said it, in which words, and how sure that makes us today. */
export function Why({ explanation, viewer, names }: WhyProps) {
  const { fact, statements, curve } = explanation;
  return html`
    <section aria-labelledby="why">
      <h2 id="why">Why do you believe this?</h2>
      <p>${because(fact)}</p>
      <ol class="rows" reversed>
        ${statements.map(
          (statement) => html`
            <li class="row entry">
              ${statement.value !== fact.value && html`<p dir="auto"><${Value} value=${statement.value} limit=${280} /></p>`}
              <${Said} statement=${statement} />
              <p class="muted">Kept with a confidence of ${statement.confidence.toFixed(2)}, written by <${Actor} actor=${statement.writtenBy} names=${names} viewer=${viewer} />.</p>
            </li>
          `,
        )}
      </ol>
    </section>
    <${Strength} explanation=${explanation} />
    ${curve && html`<${Curve} curve=${curve} />`}
  `;
}

function because({ confirmations, firstSeen, lastConfirmed }: FactRecord) {
  if (confirmations === 1) return html`Because it was noted once, on <${Day} at=${firstSeen} />:`;
  return html`Because it was noted ${confirmations} times, first on <${Day} at=${firstSeen} /> and last on <${Day} at=${lastConfirmed} />:`;
}

/** The score in words. */
function Strength({ explanation: { fact, ttlDays } }: Pick<WhyProps, "explanation">) {
  const { confidence, score, halfLifeDays, tier, fadesAt, expiresAt, pinned, lastConfirmed } = fact;
  return html`
    <section aria-labelledby="strength">
      <h2 id="strength">How sure that is today</h2>
      <p>
        The score is <strong>${score.toFixed(2)}</strong>: a confidence of ${confidence.toFixed(2)}, times ${(score / confidence || 0).toFixed(2)}${" "}
        for the time since <${Day} at=${lastConfirmed} />. As a ${tier} fact it halves every ${days(halfLifeDays)}, and starts afresh whenever${" "}
        it is said again.
      </p>
      ${pinned && html`<p>It is pinned: it neither fades nor expires, whatever its score.</p>`}
      ${fadesAt && html`<p>Unless somebody says it again, it fades on <${Day} at=${fadesAt} />: agents do not recall it any more, and you can take it back.</p>`}
      ${expiresAt && ttlDays !== null && html`<p>On <${Day} at=${expiresAt} />, ${days(ttlDays)} after it was last said, it is deleted.</p>`}
      ${ttlDays === null && html`<p>It is never deleted by itself.</p>`}
    </section>
  `;
}

function days(count: number): string {
  return count === 1 ? "day" : `${count.toLocaleString("en")} days`;
}

function Curve({ curve: { points, said, now } }: { readonly curve: ScoreCurve }) {
  const past = points.filter(({ at }) => at <= now).map(({ at, score }) => ({ at, value: score }));
  const ahead = points.filter(({ at }) => at >= now).map(({ at, score }) => ({ at, value: score }));
  const last = ahead.at(-1);
  return html`
    <${Plot}
      title="Score over time"
      max=${1}
      marks=${said}
      format=${(value: number) => value.toFixed(2)}
      series=${[
        { label: "until today", points: past },
        { label: "if nobody says it again", points: ahead },
      ]}
    >
      It was said at each upright line.${" "}
      ${last && html`If nobody says it again, the score is ${last.value.toFixed(2)} on <${Day} at=${last.at} />.`}
    <//>
  `;
}

/** What else was said under the key. */
export function Rivals({ explanation: { rivals } }: Pick<WhyProps, "explanation">) {
  const gone = rivals.filter(({ isLive }) => !isLive);
  if (gone.length === 0) return null;
  return html`
    <section aria-labelledby="rivals">
      <h2 id="rivals">What was said before, or does not count any more</h2>
      <ul class="rows">
        ${gone.map(
          ({ factId, value, statements }) => html`
            <li class="row entry">
              <p dir="auto"><a href=${factAddress(factId)}><${Value} value=${value} limit=${280} /></a></p>
              ${statements.slice(0, 1).map((statement) => html`<${Said} statement=${statement} />`)}
            </li>
          `,
        )}
      </ul>
    </section>
  `;
}

const DECISIONS: Readonly<Record<Explanation["decisions"][number]["kind"], string>> = {
  settle: "settled that this value counts",
  keep_all: "settled that all values are true",
  edit: "replaced the value",
  pin: "pinned it",
  unpin: "unpinned it",
  archive: "put it away",
  restore: "took it back",
  alike: "found that two wordings mean the same",
};

/** What people, and the server by itself, decided about the key. */
export function Decisions({ explanation: { decisions, fact }, viewer, names }: WhyProps) {
  if (decisions.length === 0) return null;
  return html`
    <section aria-labelledby="decisions">
      <h2 id="decisions">What was decided</h2>
      <ol class="rows">
        ${decisions.map(
          ({ kind, at, actor, factId }) => html`
            <li class="row entry">
              <p>
                <${Time} at=${at} />: <${Actor} actor=${actor} names=${names} viewer=${viewer} /> ${DECISIONS[kind]}${factId !== fact.factId && html` (<a href=${factAddress(factId)}>another value of this key</a>)`}
              </p>
            </li>
          `,
        )}
      </ol>
    </section>
  `;
}
