/** A run of what two texts share, or of what only the one before or the one after has. */
interface Run {
  readonly kind: "same" | "removed" | "added";
  readonly parts: readonly string[];
}

/** A line of a comparison; one that has a counterpart on the other side has its words compared. */
export interface DiffLine {
  readonly kind: Run["kind"];
  readonly words: readonly { readonly text: string; readonly isChanged: boolean }[];
}

/** Cells of the table that finds what two texts share; beyond it, what is between equal beginnings and ends counts as new. */
const MAX_CELLS = 4_000_000;

/** What became of a text, line by line and within changed lines word by word. */
export function diffLines(before: string, after: string): DiffLine[] {
  const runs = compare(linesOf(before), linesOf(after));
  return runs.flatMap(({ kind, parts }, at) => {
    const other = runs[kind === "removed" ? at + 1 : at - 1];
    const isChange = kind !== "same" && other !== undefined && other.kind !== "same";
    return parts.map((line, place) => ({
      kind,
      words: wordsOf(kind, line, isChange ? other.parts[place] : undefined),
    }));
  });
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function wordsOf(kind: Run["kind"], line: string, counterpart: string | undefined) {
  if (counterpart === undefined) return [{ text: line, isChanged: false }];
  const [own, other] = [line, counterpart].map((text) => text.match(/\s+|[\p{L}\p{N}]+|./gu) ?? []);
  const runs = compare(other ?? [], own ?? []);
  const hasSame = runs.some((run) => run.kind === "same" && run.parts.join("").trim() !== "");
  // Lines without a word in common are two lines, not a changed one.
  if (!hasSame) return [{ text: line, isChanged: false }];
  return runs
    .filter((run) => run.kind !== "removed")
    .map((run) => ({
      text: run.parts.join(""),
      isChanged: kind !== "same" && run.kind === "added",
    }));
}

/** What is removed comes before what is added in its place. */
function compare(before: readonly string[], after: readonly string[]): Run[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (end < rest && before.at(-1 - end) === after.at(-1 - end)) end++;
  const middle = differing(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  );
  const same = (parts: readonly string[]): Run => ({ kind: "same", parts });
  const runs = [same(before.slice(0, start)), ...middle, same(before.slice(before.length - end))];
  return runs.filter(({ parts }) => parts.length > 0);
}

/** By the longest common subsequence. */
function differing(before: readonly string[], after: readonly string[]): Run[] {
  const width = after.length + 1;
  if (before.length * after.length > MAX_CELLS) {
    return [
      { kind: "removed", parts: before },
      { kind: "added", parts: after },
    ];
  }
  const shared = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      shared[i * width + j] =
        before[i] === after[j]
          ? at(shared, (i + 1) * width + j + 1) + 1
          : Math.max(at(shared, (i + 1) * width + j), at(shared, i * width + j + 1));
    }
  }
  const runs: Run[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [removed, added]: [string[], string[]] = [[], []];
    while (
      (i < before.length || j < after.length) &&
      !(i < before.length && before[i] === after[j])
    ) {
      const down = i < before.length ? at(shared, (i + 1) * width + j) : -1;
      const right = j < after.length ? at(shared, i * width + j + 1) : -1;
      if (down >= right) removed.push(before[i++] ?? "");
      else added.push(after[j++] ?? "");
    }
    const same: string[] = [];
    while (i < before.length && before[i] === after[j]) {
      same.push(before[i++] ?? "");
      j++;
    }
    runs.push({ kind: "removed", parts: removed }, { kind: "added", parts: added });
    runs.push({ kind: "same", parts: same });
  }
  return runs;
}

function at(table: Uint16Array, place: number): number {
  return table[place] ?? 0;
}
