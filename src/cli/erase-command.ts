export const ERASE_USAGE = `  erase user USERID --confirm NAME [--wait]    erase a person everywhere; the name, handle or id is typed once more
  erase store STORE --confirm STORE [--wait]
  erase org --confirm SLUG [--wait]
  erase conversation CHANNEL ID --confirm ID [--account ACCOUNT] [--wait]
                                               --wait: until its bytes are out of the database's files; prints the report
  erase list [--before NEXTBEFORE]
  erase show ID
  erase --verify FILE                          look again for what a report says is gone, and check the chain
  reset user USERID|store STORE|org --confirm NAME [--wait]
                                               forget what was learned; people, messages and entries stay
`;

export const ERASE_OPTIONS = {
  confirm: { type: "string" },
  wait: { type: "boolean" },
  verify: { type: "string" },
} as const;

interface Flags {
  readonly confirm?: string;
  readonly wait?: boolean;
  readonly verify?: string;
  readonly account?: string;
  readonly before?: string;
}

/** What the command line asks to be erased, or to be looked at again. */
export type EraseRequest =
  | {
      readonly path: "/v1/erasures" | "/v1/resets";
      readonly body: object;
      readonly wait: boolean;
    }
  | { readonly verify: string };

export interface EraseVerb {
  readonly words: readonly string[];
  readonly flags: readonly (keyof Flags)[];
  readonly required?: readonly (keyof Flags)[];
  readonly instead?: undefined;
  readonly erased: (words: readonly string[], flags: Flags) => EraseRequest;
}

const verb = (
  path: "/v1/erasures" | "/v1/resets",
  words: readonly string[],
  body: (words: readonly string[], flags: Flags) => object,
  flags: readonly (keyof Flags)[] = [],
): EraseVerb => ({
  words,
  flags: ["confirm", "wait", ...flags],
  required: ["confirm"],
  erased: (given, of) => ({
    path,
    body: { ...body(given, of), confirm: of.confirm },
    wait: of.wait ?? false,
  }),
});

export const ERASE_VERBS: Readonly<Record<string, EraseVerb>> = {
  "erase user": verb("/v1/erasures", ["USERID"], ([userId]) => ({ kind: "user", userId })),
  "erase store": verb("/v1/erasures", ["STORE"], ([storeId]) => ({ kind: "store", storeId })),
  "erase org": verb("/v1/erasures", [], () => ({ kind: "org" })),
  "erase conversation": verb(
    "/v1/erasures",
    ["CHANNEL", "ID"],
    ([channel, conversationId], { account }) => ({
      ...{ kind: "conversation", channel, conversationId },
      ...(account !== undefined && { account }),
    }),
    ["account"],
  ),
  erase: {
    words: [],
    flags: ["verify"],
    required: ["verify"],
    erased: (_words, { verify = "" }) => ({ verify }),
  },
  "reset user": verb("/v1/resets", ["USERID"], ([userId]) => ({ scope: "user", userId })),
  "reset store": verb("/v1/resets", ["STORE"], ([storeId]) => ({ scope: "store", storeId })),
  "reset org": verb("/v1/resets", [], () => ({ scope: "org" })),
};
