import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** One text of a corpus. A corpus is what one person's memory holds. */
export interface Entry {
  readonly corpus: string;
  readonly id: string;
  readonly session: string;
  /** Null where a set has no times. */
  readonly at: Date | null;
  readonly who: string;
  readonly text: string;
  /** Of a fact, where a set has them. */
  readonly key?: string;
  /** The question that it is evidence for; it is no distractor of other people's questions, so they do not see it. */
  readonly own: string | undefined;
}

export interface Question {
  readonly id: string;
  readonly corpus: string;
  readonly text: string;
  readonly evidence: readonly string[];
  readonly sessions: readonly string[];
}

export interface RecallSet {
  readonly name: string;
  /** What its texts are remembered as. */
  readonly kind: "messages" | "facts";
  readonly entries: readonly Entry[];
  readonly questions: readonly Question[];
}

/** Names as the data has them; what their texts are. */
const SETS: readonly (readonly [string, RecallSet["kind"]])[] = [
  ["locomo", "messages"],
  ["locomo_facts", "facts"],
  ["lme", "messages"],
  ["beam100K", "messages"],
  ["prefeval", "facts"],
  ["para_en_en", "facts"],
  ["para_fr_fr", "facts"],
  ["para_fr_en", "facts"],
];

interface CorpusRow {
  readonly c: string;
  readonly id: string;
  readonly s: string;
  readonly t: string | null;
  readonly who: string;
  readonly text: string;
  readonly cap?: string;
  readonly own?: string;
}

interface QueryRow {
  readonly c: string;
  readonly qid: string;
  readonly q: string;
  readonly ev: readonly string[];
  readonly evs: readonly string[];
}

/** The folder that BENCH_DATA names, default ../shared/bench/data. */
export function benchData(): string {
  return resolve(process.env.BENCH_DATA ?? join(import.meta.dirname, "../../shared/bench/data"));
}

/** @returns the sets that are there, and the names of those that are not */
export function readSets(folder: string): { sets: RecallSet[]; missing: string[] } {
  const sets: RecallSet[] = [paraphrases()];
  const missing: string[] = [];
  for (const [name, kind] of SETS) {
    const corpus = join(folder, name, "corpus.jsonl");
    if (existsSync(corpus)) sets.push({ name, kind, ...readSet(join(folder, name)) });
    else missing.push(name);
  }
  return { sets, missing };
}

interface Paraphrase {
  readonly key: string;
  readonly value: string;
  readonly question: string;
}

/** Facts of one person and questions that share no word with them: what words alone cannot find. */
function paraphrases(): RecallSet {
  const rows = lines<Paraphrase>(join(import.meta.dirname, "paraphrases.jsonl"));
  const corpus = "paraphrases";
  return {
    name: "paraphrases",
    kind: "facts",
    entries: rows.map(({ key, value }) => ({
      corpus,
      id: key,
      session: key,
      at: null,
      who: "user",
      text: value,
      key,
      own: undefined,
    })),
    questions: rows.map(({ key, question }) => ({
      id: key,
      corpus,
      text: question,
      evidence: [key],
      sessions: [key],
    })),
  };
}

function readSet(folder: string): Pick<RecallSet, "entries" | "questions"> {
  // Where the evidence of a set was corrected, the correction counts.
  const audited = join(folder, "queries.audited.jsonl");
  const queries = existsSync(audited) ? audited : join(folder, "queries.jsonl");
  return {
    entries: lines<CorpusRow>(join(folder, "corpus.jsonl")).map((row) => ({
      corpus: row.c,
      id: row.id,
      session: row.s,
      at: row.t === null ? null : new Date(row.t),
      who: row.who,
      text: row.cap ? `${row.text} [shares photo: ${row.cap}]` : row.text,
      own: row.own,
    })),
    questions: lines<QueryRow>(queries)
      .filter(({ ev }) => ev.length > 0)
      .map(({ c, qid, q, ev, evs }) => ({
        id: qid,
        corpus: c,
        text: q,
        evidence: ev,
        sessions: evs,
      })),
  };
}

function lines<T>(file: string): T[] {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}
