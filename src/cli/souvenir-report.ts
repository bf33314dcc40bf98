const LINES = 20;

interface Line {
  readonly number: number;
  readonly section?: string;
  readonly outcome: string;
  readonly reason?: string;
}

const WORDS: Readonly<Record<string, string>> = {
  new: "new",
  present: "already there",
  differs: "changed here since, left as they are",
  refused: "refused",
};

/** What an import of an export did or would do, counted as it goes. */
export class SouvenirReport {
  readonly #sections = new Map<string, Map<string, number>>();
  readonly #named = new Map<string, string[]>();
  count = 0;
  refused = 0;

  add({ number, section = "unreadable", outcome, reason }: Line): void {
    this.count++;
    if (outcome === "listed") return;
    const counts = this.#sections.get(section) ?? new Map<string, number>();
    this.#sections.set(section, counts);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    if (outcome === "refused") this.refused++;
    if (reason === undefined) return;
    const named = this.#named.get(outcome) ?? [];
    this.#named.set(outcome, named);
    if (named.length < LINES) named.push(`line ${number}, ${section}: ${reason}`);
  }

  /** Of one section, refused or not. */
  rows(section: string): number {
    return [...(this.#sections.get(section)?.values() ?? [])].reduce((sum, n) => sum + n, 0);
  }

  /** For a person at a terminal. */
  text(isDryRun: boolean): string {
    const lines = [isDryRun ? "Dry run, nothing was written." : "Imported.", ""];
    for (const [section, counts] of this.#sections) {
      const parts = Object.entries(WORDS)
        .filter(([outcome]) => counts.has(outcome))
        .map(([outcome, words]) => `${counts.get(outcome)} ${words}`);
      lines.push(`  ${section}: ${parts.join(", ")}`);
    }
    for (const [outcome, named] of this.#named) {
      lines.push("", outcome === "refused" ? "Refused:" : "Changed here since:");
      for (const text of named) lines.push(`  ${text.replace(/\p{C}/gu, " ")}`);
      if (named.length === LINES) lines.push("  …");
    }
    return `${lines.join("\n")}\n`;
  }
}
