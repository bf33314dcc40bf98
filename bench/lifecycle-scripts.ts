/** Successive values of one attribute of a person, with a question about it. */
export interface Chain {
  readonly id: string;
  readonly user: string;
  readonly key: string;
  readonly query: string;
  readonly values: readonly { readonly v: string }[];
}

interface Say {
  readonly day: number;
  readonly value: string;
}

interface Ask {
  readonly day: number;
  readonly name: string;
  /** Values of which one has to come first. */
  readonly top: readonly string[];
  readonly stale?: readonly string[];
  readonly kept?: readonly string[];
  /** Asked under the attribute's key rather than of everything known of the person. */
  readonly byKey?: true;
}

/** What is said of an attribute, when, and what has to be recalled afterwards. */
export interface Script {
  readonly name: string;
  /** undefined where a chain has too few values. */
  plan(values: readonly string[]): { readonly says: Say[]; readonly checks: Ask[] } | undefined;
}

const says = (value: string, ...days: number[]): Say[] => days.map((day) => ({ day, value }));

/** Names and days of the published protocol, so that figures can be compared. */
export const SCRIPTS: readonly Script[] = [
  {
    name: "replace-confirmed",
    plan: ([a = "", b = ""]) => ({
      says: [...says(a, 0, 7), ...says(b, 30, 37, 44)],
      checks: [
        { day: 31, name: "after 1st mention", top: [a, b], kept: [a, b], byKey: true },
        { day: 31, name: "after 1st mention, by the question alone", top: [a, b], kept: [a, b] },
        { day: 45, name: "after 3 confirmations", top: [b], stale: [a] },
      ],
    }),
  },
  {
    name: "noisy-single",
    plan: ([a = "", b = ""]) => ({
      says: [...says(a, 0, 7, 14), ...says(b, 30), ...says(a, 35)],
      checks: [{ day: 36, name: "noise then reaffirmed", top: [a] }],
    }),
  },
  {
    name: "flip-back",
    plan: ([a = "", b = ""]) => ({
      says: [...says(a, 0), ...says(b, 30, 37, 44), ...says(a, 60, 67, 74)],
      checks: [{ day: 75, name: "A again", top: [a], stale: [b] }],
    }),
  },
  {
    name: "three-values",
    plan: ([a = "", b = "", c]) =>
      c === undefined || c === a
        ? undefined
        : {
            says: [...says(a, 0), ...says(b, 30, 37, 44), ...says(c, 60, 67, 74)],
            checks: [{ day: 75, name: "third value", top: [c], stale: [a, b] }],
          },
  },
  {
    name: "restart-idempotent",
    plan: ([a = "", b = ""]) => ({
      says: [...says(a, 0), ...says(b, 30, 37, 44)],
      checks: [{ day: 45, name: "consolidated daily = consolidated once", top: [b], stale: [a] }],
    }),
  },
];
