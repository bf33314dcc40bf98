export interface Table {
  /** What was measured, against what. */
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What a reader has to know to judge the figures. */
  readonly notes: readonly string[];
}

/** Plain text that is a Markdown table too, so that figures can be pasted where they are published. */
export function renderTable({ title, columns, rows, notes }: Table): string {
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, i) => align(cells[i] ?? "", width, i)).join(" | ")} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [title, "", line(columns), rule, ...rows.map(line), "", ...notes].join("\n");
}

/** Names to the left, figures to the right. */
function align(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/** Two or three significant digits: more would be noise. */
export function figure(value: number): string {
  if (value >= 100) return count(Math.round(value));
  if (value >= 10) return value.toFixed(1);
  return value >= 0.1 ? value.toFixed(2) : value.toPrecision(2);
}

export function count(value: number): string {
  return value.toLocaleString("en");
}
