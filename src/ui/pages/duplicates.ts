import { html } from "htm/preact";
import type { Duplicate, DuplicatePage } from "../../facts/duplicates.ts";
import { address, factAddress, listAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { inPlace } from "../live.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { type Names, nameIn } from "../places.ts";
import { Day, Score, Text, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface DuplicatesProps {
  readonly viewer: Viewer;
  readonly page: DuplicatePage;
  readonly names: Names;
  readonly before: string | undefined;
  readonly done: string | undefined;
}

/** Facts that may say one thing under two keys. */
export function DuplicatesPage({ viewer, page, names, before, done }: DuplicatesProps) {
  return html`
    <${Layout} title="Possible duplicates" viewer=${viewer} here="/duplicates">
      <${PageHead}
        title="Possible duplicates"
        lead="Facts that may say the same under two keys, the most alike first. They stay two until you put one away: nothing is merged by itself."
        done=${done}
      />
      ${
        page.duplicates.length === 0
          ? html`<p class="empty">Nothing looks like the same thing twice. New facts are compared with the others of their person, store or org soon after they are written.</p>`
          : page.duplicates.map(
              (one) => html`<${One} duplicate=${one} name=${nameIn(names, one.first)} />`,
            )
      }
      <${Pager}
        label="Pages of possible duplicates"
        back=${before !== undefined && { href: address("/duplicates"), label: "Most alike" }}
        on=${page.nextBefore !== null && { href: address("/duplicates", { before: page.nextBefore }), label: "Less alike" }}
      />
    <//>
  `;
}

function One({ duplicate, name }: { readonly duplicate: Duplicate; readonly name: string }) {
  const { first, second, likeness, mayDecide } = duplicate;
  const title = `pair-${first.factId}-${second.factId}`;
  const dismiss = address("/duplicates");
  return html`
    <section class="sheet" aria-labelledby=${title}>
      <h2 id=${title}>${likeness === 1 ? "The same value twice" : "Nearly the same"}</h2>
      <p class="muted">About <a href=${listAddress(first)}><${Text} text=${name} limit=${80} /></a>, noted by ${first.agentId}.</p>
      <div class="sides">
        ${[first, second].map(
          (fact) => html`
            <div class="side-by-side">
              <p><a class="key" href=${factAddress(fact.factId)}>${fact.key}</a></p>
              <p class="value" dir="auto"><${Value} value=${fact.value} limit=${280} /></p>
              <p class="muted meta"><span>last said on <${Day} at=${fact.lastConfirmed} /></span><${Score} value=${fact.score} /></p>
              ${mayDecide && html`<${PutAway} factId=${fact.factId} of=${fact.key} />`}
            </div>
          `,
        )}
      </div>
      ${
        mayDecide &&
        html`
          <form method="post" action=${dismiss} ...${inPlace(dismiss)}>
            <input type="hidden" name="firstId" value=${first.factId} />
            <input type="hidden" name="secondId" value=${second.factId} />
            <button class="quiet">These are two things<span class="hidden">: ${first.key} and ${second.key}</span></button>
          </form>
        `
      }
    </section>
  `;
}

function PutAway({ factId, of }: { readonly factId: string; readonly of: string }) {
  const action = factAddress(factId);
  return html`
    <div class="together">
      <form method="post" action=${action} ...${inPlace(action)}>
        <input type="hidden" name="from" value="duplicates" />
        <button class="quiet" name="decision" value="archive">Put this one away<span class="hidden">: ${of}</span></button>
      </form>
      <a href=${`${action}#change`}>Edit or delete<span class="hidden"> ${of}</span></a>
    </div>
  `;
}
