import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { Day } from "../text.ts";
import { Table } from "./table.ts";

/** Of the drawing, which is stretched over the room there is: all words stand outside of it. */
const WIDTH = 600;
const HEIGHT = 160;

interface Point {
  readonly at: Date;
  readonly value: number;
}

interface PlotProps {
  /** What is plotted, in a few words. */
  readonly title: string;
  /** Each by its name; drawn in this order, and told apart by colour and dashes. */
  readonly series: readonly { readonly label: string; readonly points: readonly Point[] }[];
  /** The upper end of the scale; absent = a round number above the highest value. */
  readonly max?: number;
  /** Points in time to mark by an upright line. */
  readonly marks?: readonly Date[];
  readonly format?: (value: number) => string;
  /** What the plot says in words. */
  readonly children?: ComponentChildren;
}

/** Values over time as lines, and the same as a table for those who cannot see them. */
export function Plot({
  title,
  series,
  max = roundAbove(series),
  marks = [],
  format = String,
  children,
}: PlotProps) {
  const times = series.flatMap(({ points }) => points.map(({ at }) => at.getTime()));
  if (times.length === 0) return null;
  const from = Math.min(...times);
  const to = Math.max(...times);
  const x = (at: Date) => round(((at.getTime() - from) / Math.max(1, to - from)) * WIDTH);
  const y = (value: number) => round(HEIGHT - (Math.min(value, max) / max) * HEIGHT);
  return html`
    <figure class="plot">
      <figcaption>
        <strong>${title}</strong>
        ${series.length > 1 && series.map(({ label }, at) => html`<span class=${`legend series-${at + 1}`}>${label}</span>`)}
      </figcaption>
      <div class="plot-area" aria-hidden="true">
        <div class="scale"><span>${format(max)}</span><span>${format(max / 2)}</span><span>${format(0)}</span></div>
        <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" focusable="false">
          ${[0, HEIGHT / 2, HEIGHT].map((at) => html`<path class="grid" d=${`M0 ${at}H${WIDTH}`} />`)}
          ${marks.map((at) => html`<path class="mark" d=${`M${x(at)} 0V${HEIGHT}`} />`)}
          ${series.map(({ points }, at) => html`<path class=${`line series-${at + 1}`} d=${lineOf(points, x, y)} />`)}
        </svg>
        <div class="ends"><${Day} at=${new Date(from)} /><${Day} at=${new Date(to)} /></div>
      </div>
      ${children && html`<p class="hint">${children}</p>`}
      <details>
        <summary>The numbers</summary>
        <${Table}
          caption=${title}
          columns=${["Day", ...series.map(({ label }) => ({ label, number: true }))]}
          rows=${rowsOf(series, format)}
        />
      </details>
    </figure>
  `;
}

function lineOf(points: readonly Point[], x: (at: Date) => number, y: (value: number) => number) {
  const [only] = points;
  // One point alone has no length: a level line says the same and can be seen.
  if (points.length === 1 && only) return `M0 ${y(only.value)}H${WIDTH}`;
  return points.map(({ at, value }, n) => `${n === 0 ? "M" : "L"}${x(at)} ${y(value)}`).join("");
}

function rowsOf(series: PlotProps["series"], format: (value: number) => string) {
  const times = series.flatMap(({ points }) => points.map(({ at }) => at.getTime()));
  const at = [...new Set(times)].sort((a, b) => b - a);
  return at.map((time) => [
    html`<${Day} at=${new Date(time)} />`,
    ...series.map(({ points }) => {
      const point = points.find(({ at }) => at.getTime() === time);
      return point ? format(point.value) : "";
    }),
  ]);
}

/** 1, 2 or 5 times a power of ten: a scale whose half is readable too. */
function roundAbove(series: PlotProps["series"]): number {
  const highest = Math.max(1, ...series.flatMap(({ points }) => points.map(({ value }) => value)));
  const power = 10 ** Math.floor(Math.log10(highest));
  return ([1, 2, 5, 10].find((step) => step * power >= highest) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
