import { html } from "htm/preact";
import type { MemorySettings } from "../../orgs/memory.ts";
import { type Arm, differenceOf, neededFor } from "../../turns/comparison.ts";
import { Layout } from "../layout.ts";
import { figure } from "../parts/figures.ts";
import { PageHead } from "../parts/page-head.ts";
import { Table } from "../parts/table.ts";
import { Day } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface ComparisonProps {
  readonly viewer: Viewer;
  readonly settings: MemorySettings;
  readonly compared: {
    readonly since: string;
    readonly arms: { readonly on: Arm; readonly off: Arm };
  };
  readonly done: string | undefined;
}

/** Whether memory is used, by whom, and whether it helps. */
export function ComparisonPage({ viewer, settings, compared, done }: ComparisonProps) {
  return html`
    <${Layout} title="Memory on and off" viewer=${viewer} here="/comparison">
      <${PageHead}
        title="Memory on and off"
        lead="Switch memory off for everybody, or for a share of the people, and see whether answers are better with it."
        done=${done}
      />
      <${Settings} settings=${settings} />
      <${Numbers} ...${compared} />
    <//>
  `;
}

function Settings({ settings }: { readonly settings: MemorySettings }) {
  const { enabled, offShare, extractionDailyLimit } = settings;
  const choice = (value: "on" | "off", label: string) => html`
    <label class="choice">
      <input type="radio" name="enabled" value=${value} checked=${enabled === (value === "on")} />
      ${label}
    </label>
  `;
  return html`
    <section aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <form class="stack" method="post" action="/ui/comparison">
        <fieldset>
          <legend>Memory</legend>
          ${choice("on", "On")}
          ${choice("off", "Off: nothing is learned from chats, and agents get empty blocks, without rules too")}
        </fieldset>
        <label for="offShare">People who do without, in percent</label>
        <input
          id="offShare"
          name="offShare"
          type="number"
          min="0"
          max="100"
          step="any"
          inputmode="decimal"
          required
          value=${Math.round(offShare * 1e6) / 1e4}
          aria-describedby="off-hint"
        />
        <p class="hint" id="off-hint">
          Chance decides once for each person. A larger share moves people from with to without and nobody back. For those
          without, nothing is learned and nothing recalled; what is remembered of them already stays, and facts that an agent
          writes on purpose are still kept.
        </p>
        <label for="limit">Turns to learn from a day</label>
        <input
          id="limit"
          name="extractionDailyLimit"
          type="number"
          min="0"
          max="1000000000"
          inputmode="numeric"
          value=${extractionDailyLimit ?? ""}
          aria-describedby="limit-hint"
        />
        <p class="hint" id="limit-hint">Empty: as the server is set. 0: none.</p>
        <button>Save</button>
      </form>
    </section>
  `;
}

function Numbers({ since, arms: { on, off } }: ComparisonProps["compared"]) {
  const rates = [
    {
      name: "Thumbs up",
      of: "thumbs",
      read: (arm: Arm) => ({ hits: arm.up, of: arm.up + arm.down }),
      better: 1,
    },
    {
      name: "Answers asked for again",
      of: "turns",
      read: (arm: Arm) => ({ hits: arm.regenerated, of: arm.turns }),
      better: -1,
    },
  ];
  return html`
    <section aria-labelledby="numbers">
      <h2 id="numbers">With and without, since <${Day} at=${new Date(since)} /></h2>
      ${
        on.turns + off.turns === 0
          ? html`<p class="empty">No turn yet. Turns come from channels and from <code>archive_turn</code>, which also takes thumbs and whether an answer was asked for again.</p>`
          : html`
            <${Table}
              caption="Thumbs and answers asked for again, with memory and without"
              columns=${["Counted", { label: "With memory", number: true }, { label: "Without", number: true }]}
              rows=${[
                ["Turns", figure(on.turns), figure(off.turns)],
                ["Thumbs up", figure(on.up), figure(off.up)],
                ["Thumbs down", figure(on.down), figure(off.down)],
                ["Share of thumbs that are up", percent(on.upRate), percent(off.upRate)],
                ["Answers asked for again", figure(on.regenerated), figure(off.regenerated)],
                [
                  "Share of answers asked for again",
                  percent(on.regeneratedRate),
                  percent(off.regeneratedRate),
                ],
              ]}
            />
            <h3>What that says</h3>
            <ul class="sentences">
              ${rates.map((rate) => html`<li><strong>${rate.name}:</strong> ${verdict(rate, on, off)}</li>`)}
            </ul>
            <p class="hint measure">
              Turns of one person are alike, so these ranges are rather too narrow than too wide, and people who never give a
              thumb are not in them. Decide beforehand when you will look: who looks every day sees a difference sooner or
              later where there is none.
            </p>
          `
      }
    </section>
  `;
}

interface Rate {
  readonly of: string;
  readonly read: (arm: Arm) => { readonly hits: number; readonly of: number };
  /** 1 where more of it is better. */
  readonly better: number;
}

function verdict({ of, read, better }: Rate, on: Arm, off: Arm): string {
  const [withIt, without] = [read(on), read(off)];
  const total = withIt.of + without.of;
  const rate = total === 0 ? 0.5 : (withIt.hits + without.hits) / total;
  const needed = `To see a difference of 10 points takes about ${figure(neededFor(rate, 0.1))} ${of} on each side, one of 5 points about ${figure(neededFor(rate, 0.05))}; there are ${figure(withIt.of)} and ${figure(without.of)}.`;
  const found = differenceOf(withIt, without);
  if (!found) return `too few to say anything. ${needed}`;
  const { low, high } = found;
  if (low > 0 || high < 0) {
    const isBetter = found.difference * better > 0;
    const range = [Math.abs(low), Math.abs(high)]
      .sort((a, b) => a - b)
      .map((points) => (points * 100).toFixed(1));
    return `${isBetter ? "better" : "worse"} with memory, by ${range.join(" to ")} points. ${needed}`;
  }
  return `no difference that these numbers can show: it lies between ${signed(low)} and ${signed(high)} points. ${needed}`;
}

const signed = (share: number) => `${share < 0 ? "−" : "+"}${Math.abs(share * 100).toFixed(1)}`;
const percent = (share: number | null) => (share === null ? "–" : `${(share * 100).toFixed(1)} %`);
