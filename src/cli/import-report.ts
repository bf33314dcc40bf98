const EXAMPLES = 3;
const CLIPPED = 80;
/** Of lines that could not be read, as many are named. */
const LINES = 20;

const WORDS: Readonly<Record<string, string>> = {
  new: "new",
  present: "already there",
  updated: "updated",
  changed: "changed since (kept as archived; --update replaces them)",
  differs: "other words, no later edit (kept as archived)",
};

/** What an import did or would do, counted as it goes: nothing of it grows with the file but the set of new people. */
export class ImportReport {
  readonly #noun: string;
  readonly #outcomes = new Map<string, number>();
  readonly #skipped = new Map<string, { count: number; lines: number[] }>();
  readonly #examples = new Map<string, string[]>();
  readonly #people = new Set<string>();
  #first: string | undefined;
  #last: string | undefined;

  constructor(noun: string) {
    this.#noun = noun;
  }

  outcome(outcome: string, example: string): void {
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    if (outcome === "present") return;
    const examples = this.#examples.get(outcome) ?? [];
    this.#examples.set(outcome, examples);
    if (examples.length < EXAMPLES && example !== "") examples.push(clip(example));
  }

  skipped(reason: string, line?: number): void {
    const skipped = this.#skipped.get(reason) ?? { count: 0, lines: [] };
    this.#skipped.set(reason, skipped);
    skipped.count++;
    if (line !== undefined && skipped.lines.length < LINES && skipped.lines.at(-1) !== line)
      skipped.lines.push(line);
  }

  newPeople(ids: readonly string[]): void {
    for (const id of ids) this.#people.add(id);
  }

  date(iso: string): void {
    if (this.#first === undefined || iso < this.#first) this.#first = iso;
    if (this.#last === undefined || iso > this.#last) this.#last = iso;
  }

  /** Everything that was read, imported or not. */
  get count(): number {
    const skipped = [...this.#skipped.values()].map(({ count }) => count);
    return [...this.#outcomes.values(), ...skipped].reduce((sum, count) => sum + count, 0);
  }

  /** For a person at a terminal. */
  text(isDryRun: boolean): string {
    const lines = [isDryRun ? "Dry run, nothing was written." : "Imported.", ""];
    lines.push(`${this.count} ${this.#noun} in the file`);
    for (const [outcome, words] of Object.entries(WORDS)) {
      const count = this.#outcomes.get(outcome) ?? 0;
      if (count === 0 && outcome !== "new" && outcome !== "present") continue;
      lines.push(`  ${count} ${words}`);
      for (const example of this.#examples.get(outcome) ?? []) lines.push(`      ${example}`);
    }
    for (const [reason, { count, lines: of }] of this.#skipped) {
      const numbers = of.length === 0 ? "" : `, line ${of.join(", ")}`;
      const more = of.length === LINES ? " …" : "";
      lines.push(`  ${count} skipped: ${reason}${numbers}${more}`);
    }
    if (this.#first !== undefined && this.#last !== undefined) {
      const people = `${this.#people.size} new ${this.#people.size === 1 ? "person" : "people"}`;
      lines.push(`From ${this.#first.slice(0, 10)} to ${this.#last.slice(0, 10)}, ${people}`);
    }
    return `${lines.join("\n")}\n`;
  }
}

/** One line, without characters that a terminal would obey. */
function clip(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, " ").trim();
  const characters = [...line];
  return characters.length > CLIPPED ? `${characters.slice(0, CLIPPED - 1).join("")}…` : line;
}
