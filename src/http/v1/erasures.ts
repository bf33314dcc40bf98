import { z } from "zod";
import { type Erasure, NewErasure, NewReset } from "../../erasure/erasure.ts";
import { ERASE_JOB, SCRUB_JOB } from "../../erasure/progress.ts";
import { ErasureQuery, type ErasureService } from "../../erasure/service.ts";
import type { JobService } from "../../jobs/service.ts";
import { Id, NextBefore, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

const section = "Data";

/** Body of `POST /v1/erasures/verify`: an entry, by its id or as `GET /v1/erasures/:id` gave it. */
const Verify = z.looseObject({ id: z.string() });

const Places = z
  .record(z.string(), z.int())
  .meta({ description: "Rows by table, or by table and column" });

const Scan = z
  .strictObject({
    at: Time,
    tables: z.int(),
    columns: z.int(),
    left: Places.meta({ description: "What still refers to what was erased: empty" }),
    kept: Places,
    samples: z.int(),
    alike: Places,
    mentions: Places,
  })
  .meta({ id: "ErasureScan" });

const Report = z.strictObject({
  ids: z.array(z.string()),
  before: Places,
  deleted: Places,
  cleared: Places,
  scan: Scan.optional(),
  vectorsWaiting: z.int().optional(),
  scrub: z
    .strictObject({
      at: Time,
      tables: z.array(z.string()),
      statistics: z.boolean(),
      log: z.boolean(),
    })
    .optional(),
  unverified: z.array(z.string()),
  reason: z.string().optional(),
});

const Entry = z
  .strictObject({
    id: Id,
    position: z.int(),
    kind: z.enum(["user", "store", "org", "fact", "message", "conversation", "reset"]),
    subjectId: z.string(),
    state: z.enum(["erasing", "erased", "verified", "scrubbed", "failed"]),
    requestedBy: z.string(),
    requestedAt: Time,
    erasedAt: Time.nullable(),
    verifiedAt: Time.nullable(),
    scrubbedAt: Time.nullable(),
    report: Report,
    previousHash: z.string().nullable(),
    hash: z.string().nullable(),
  })
  .meta({ id: "Erasure", description: "An erasure and its report: ids and counts, no contents" });

interface ErasureServices {
  readonly erasures: ErasureService;
  readonly jobs: JobService;
}

/** Erasing, and the proof of it. Owners only. */
export const erasureRoutes = ({ erasures, jobs }: ErasureServices): Route[] => [
  route({
    method: "GET",
    url: "/v1/erasures",
    id: "listErasures",
    section,
    summary: "What was erased",
    description: "Newest first.",
    caller: "owner",
    query: ErasureQuery,
    answer: z.strictObject({ erasures: z.array(Entry), nextBefore: NextBefore }),
    handle: ({ by, query }) => erasures.list(by, query),
  }),
  route({
    method: "POST",
    url: "/v1/erasures",
    id: "erase",
    section,
    summary: "Erase a person, a store, the org or a conversation",
    description:
      "Everything, everywhere; cannot be taken back. `confirm` repeats the name of what is erased. Goes on in the background: ask for the entry until it is `verified`, and `scrubbed` once no byte is left in the database's files.",
    caller: "owner",
    errors: ["NOT_FOUND"],
    body: NewErasure,
    example: { kind: "user", userId: "telegram:12345", confirm: "telegram:12345" },
    status: 202,
    answer: Entry,
    handle: ({ by, body }) => erasures.erase(by, body),
  }),
  route({
    method: "GET",
    url: "/v1/erasures/:erasureId",
    id: "getErasure",
    section,
    summary: "How far an erasure is, and its report",
    caller: "owner",
    errors: ["NOT_FOUND"],
    params: z.object({ erasureId: z.string() }),
    answer: Entry,
    handle: ({ by, params: { erasureId } }) => erasures.find(by, erasureId),
  }),
  route({
    method: "POST",
    url: "/v1/erasures/verify",
    id: "verifyErasure",
    section,
    summary: "Look again whether it is gone",
    description:
      "Scans every table once more and checks the chain of entries; a whole report is compared too.",
    caller: "owner",
    errors: ["NOT_FOUND"],
    body: Verify,
    example: { id: "019a3c5e-7b1f-7c44-9a51-0242ac120002" },
    answer: z.strictObject({
      id: Id,
      isVerified: z.boolean(),
      scan: Scan,
      faults: z.array(z.string()),
    }),
    handle: ({ by, body: { id, ...report } }) => {
      const isReport = Object.keys(report).length > 0;
      return erasures.verify(by, id, isReport ? ({ id, ...report } as Erasure) : undefined);
    },
  }),
  route({
    method: "POST",
    url: "/v1/erasures/run",
    id: "runErasures",
    section,
    summary: "Finish what is open, here and now",
    description: "For who waits: everything that is open, of every org, and then the files.",
    caller: "owner",
    errors: ["CONFLICT"],
    answer: z.record(z.string(), z.number()),
    handle: async ({ by }) => {
      const erased = await jobs.runNow(by, ERASE_JOB);
      return { ...erased, ...(await jobs.runNow(by, SCRUB_JOB)) };
    },
  }),
  route({
    method: "POST",
    url: "/v1/resets",
    id: "reset",
    section,
    summary: "Forget what was learned in a scope",
    description:
      "Facts, vectors and what events told go; people and chat stay. `confirm` repeats the name.",
    caller: "owner",
    errors: ["NOT_FOUND"],
    body: NewReset,
    example: { scope: "store", storeId: "paris", confirm: "paris" },
    status: 202,
    answer: Entry,
    handle: ({ by, body }) => erasures.reset(by, body),
  }),
];
