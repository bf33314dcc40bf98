import { z } from "zod";
import { NewRules, RestoreRules, RulesOf, RulesQuery } from "../../rules/rules.ts";
import type { RulesService } from "../../rules/service.ts";
import { Id, NextBefore, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

const section = "Rules";
const caller = "admin";
const params = z.object({ versionId: z.string() });

const version = {
  id: Id,
  storeId: Id.nullable(),
  version: z.int(),
  tokens: z.int(),
  reason: z.string().nullable(),
  createdBy: z.string(),
  createdAt: Time,
};
const Version = z.strictObject(version).meta({ id: "RulesVersion" });
const Written = z.strictObject({ ...version, text: z.string() }).meta({ id: "Rules" });

/** What an org and its stores tell their agents, in versions. */
export const rulesRoutes = (rules: RulesService): Route[] => [
  route({
    method: "GET",
    url: "/v1/rules",
    id: "getRules",
    section,
    summary: "The rules in force",
    description: "Of the org, or with `storeId` what a store adds to them.",
    caller,
    errors: ["NOT_FOUND"],
    query: RulesOf,
    answer: z.strictObject({
      storeId: Id.nullable(),
      version: z.int().meta({ description: "0: nothing was ever saved" }),
      text: z.string(),
      tokens: z.int(),
      saved: Version.nullable(),
    }),
    handle: ({ by, query }) => rules.current(by, query),
  }),
  route({
    method: "PUT",
    url: "/v1/rules",
    id: "saveRules",
    section,
    summary: "Save the rules",
    description:
      "Markdown of at most 32 KiB; an empty text takes them away. `basedOn` is the version that you read: CONFLICT where somebody saved since.",
    caller,
    errors: ["NOT_FOUND", "CONFLICT"],
    body: NewRules,
    example: { text: "Answer in French.", basedOn: 0 },
    answer: Written,
    handle: ({ by, body }) => rules.save(by, body),
  }),
  route({
    method: "GET",
    url: "/v1/rules/versions",
    id: "listRulesVersions",
    section,
    summary: "Versions of the rules",
    description: "Newest first.",
    caller,
    errors: ["NOT_FOUND"],
    query: RulesQuery,
    answer: z.strictObject({ versions: z.array(Version), nextBefore: NextBefore }),
    handle: ({ by, query }) => rules.versions(by, query),
  }),
  route({
    method: "GET",
    url: "/v1/rules/versions/:versionId",
    id: "getRulesVersion",
    section,
    summary: "A version of the rules",
    caller,
    errors: ["NOT_FOUND"],
    params,
    answer: Written,
    handle: ({ by, params: { versionId } }) => rules.version(by, versionId),
  }),
  route({
    method: "GET",
    url: "/v1/rules/versions/:versionId/diff",
    id: "diffRules",
    section,
    summary: "What a version changed",
    description: "Beside the version before it, or beside `against`.",
    caller,
    errors: ["NOT_FOUND"],
    params,
    query: z.object({ against: z.string().max(64).optional() }),
    answer: z.strictObject({
      before: Version.nullable(),
      after: Written,
      lines: z.array(
        z.strictObject({
          kind: z.enum(["same", "removed", "added"]),
          words: z.array(z.strictObject({ text: z.string(), isChanged: z.boolean() })),
        }),
      ),
    }),
    handle: ({ by, params: { versionId }, query: { against } }) =>
      rules.diff(by, versionId, against),
  }),
  route({
    method: "POST",
    url: "/v1/rules/versions/:versionId/restore",
    id: "restoreRules",
    section,
    summary: "Save an old version as a new one",
    caller,
    errors: ["NOT_FOUND", "CONFLICT"],
    params,
    body: RestoreRules,
    example: { basedOn: 3 },
    answer: Written,
    handle: ({ by, params: { versionId }, body }) => rules.restore(by, versionId, body),
  }),
];
