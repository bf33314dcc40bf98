import { z } from "zod";
import { AuditQuery, type AuditService } from "../../audit/service.ts";
import type { LinkCodes } from "../../links/codes.ts";
import { LinkQuery, NewLinkByHand, UndoLink } from "../../links/link.ts";
import type { LinkService } from "../../links/service.ts";
import { type Approval, NewStatus } from "../../users/approval.ts";
import { type People, PeopleQuery } from "../../users/people.ts";
import { UserId, UserStatus } from "../../users/person.ts";
import { Id, NextBefore, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

const OfUser = z.object({ userId: UserId });

export interface PeopleServices {
  readonly people: People;
  readonly approval: Approval;
  readonly links: LinkService;
  readonly audit: AuditService;
  readonly codes: LinkCodes;
}

const PersonCard = z
  .strictObject({
    id: Id,
    username: z.string().nullable(),
    firstName: z.string().nullable(),
    status: UserStatus,
    role: z.enum(["customer", "operator"]),
    createdAt: Time,
    identities: z.array(z.string()).meta({ description: "As `channel:externalId`" }),
  })
  .meta({ id: "PersonCard" });

const Count = z.int().meta({ description: "1,001 says more than 1,000" });
const PersonDetail = z
  .strictObject({
    ...PersonCard.shape,
    approvedAt: Time.nullable(),
    identities: z.array(
      z.strictObject({
        channel: z.string(),
        externalId: z.string(),
        username: z.string().nullable(),
        firstName: z.string().nullable(),
        since: Time,
        unreachableAt: Time.nullable(),
      }),
    ),
    linked: z.array(z.string()),
    holdings: z.strictObject({ messages: Count, facts: Count, entries: Count }),
  })
  .meta({ id: "PersonDetail" });

const Link = z
  .strictObject({
    id: Id,
    fromUserId: Id,
    toUserId: Id,
    proof: z.enum(["code", "assertion", "admin", "platform"]),
    actor: z.string(),
    reason: z.string().nullable(),
    at: Time,
    undoneAt: Time.nullable(),
    undoneBy: z.string().nullable(),
  })
  .meta({ id: "Link", description: "Two people who turned out to be one" });

const AuditEvent = z
  .strictObject({
    id: Id,
    at: Time,
    actor: z.string().meta({
      description: "A key's id, `operator`, or what proved itself otherwise, e.g. `code`",
    }),
    action: z.string().meta({ description: "`<subject>.<what was done>`" }),
    subjectKind: z.string(),
    subjectId: z.string(),
    reason: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "AuditEvent" });

/** Who the org's people are: approval, links between them, and who decided so. */
export const peopleRoutes = ({
  people,
  approval,
  links,
  audit,
  codes,
}: PeopleServices): Route[] => [
  route({
    method: "GET",
    url: "/v1/users",
    id: "listUsers",
    section: "People",
    summary: "The people of the org",
    description: "Newest first, 50 a page.",
    caller: "admin",
    query: PeopleQuery,
    answer: z.strictObject({ people: z.array(PersonCard), nextBefore: NextBefore }),
    handle: ({ by, query }) => people.list(by, query),
  }),
  route({
    method: "GET",
    url: "/v1/users/:userId",
    id: "getUser",
    section: "People",
    summary: "A person",
    description: "With their identities, who was linked into them, and how much is kept of them.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfUser,
    answer: PersonDetail,
    handle: ({ by, params: { userId } }) => people.detail(by, userId),
  }),
  route({
    method: "POST",
    url: "/v1/users/:userId/link-codes",
    id: "issueLinkCode",
    section: "People",
    summary: "Make a one-time code for a person",
    description:
      "Once they send it to the bot in private from another channel, both are one person. Valid for 15 minutes and once.",
    caller: "admin",
    errors: ["NOT_FOUND", "CONFLICT", "LIMIT_EXCEEDED"],
    params: OfUser,
    status: 201,
    answer: z.strictObject({ code: z.string(), expiresAt: Time }),
    handle: ({ by, params: { userId } }) => codes.issue(by, userId),
  }),
  route({
    method: "PUT",
    url: "/v1/users/:userId/status",
    id: "setUserStatus",
    section: "People",
    summary: "Approve or block a person",
    description:
      "Approved people's messages are forwarded and learned from; of pending and blocked people they are only archived. What was written before an approval stays out for good. Blocking drops what waits.",
    caller: "admin",
    errors: ["NOT_FOUND"],
    params: OfUser,
    body: NewStatus,
    example: { status: "approved", reason: "a customer since 2024" },
    answer: z.strictObject({ userId: Id, status: UserStatus, approvedAt: Time.nullable() }),
    handle: ({ by, params: { userId }, body }) => approval.decide(by, userId, body),
  }),
  route({
    method: "POST",
    url: "/v1/users/:userId/links",
    id: "linkUsers",
    section: "People",
    summary: "Say that two people are one",
    description:
      "The identities of `with`, and all that came by them, go to the person of the address. Kept in a journal, and can be undone.",
    caller: "admin",
    errors: ["NOT_FOUND", "CONFLICT"],
    params: OfUser,
    body: NewLinkByHand,
    example: { with: "whatsapp:33612345678", reason: "they showed both phones" },
    status: 201,
    answer: Link,
    handle: ({ by, params: { userId }, body }) => links.linkByHand(by, userId, body),
  }),
  route({
    method: "GET",
    url: "/v1/links",
    id: "listLinks",
    section: "People",
    summary: "The journal of links",
    description: "Newest first; of one person with `userId`.",
    caller: "admin",
    errors: ["NOT_FOUND"],
    query: LinkQuery,
    answer: z.strictObject({ links: z.array(Link), nextBefore: NextBefore }),
    handle: ({ by, query }) => links.list(by, query),
  }),
  route({
    method: "POST",
    url: "/v1/links/:linkId/undo",
    id: "undoLink",
    section: "People",
    summary: "Part two people again",
    description: "Each gets back what came by their own identities.",
    caller: "admin",
    errors: ["NOT_FOUND", "CONFLICT"],
    params: z.object({ linkId: z.string() }),
    body: UndoLink.default({}),
    example: { reason: "two people on one phone" },
    answer: Link,
    handle: ({ by, params: { linkId }, body: { reason = null } }) => links.undo(by, linkId, reason),
  }),
  route({
    method: "GET",
    url: "/v1/audit",
    id: "listAudit",
    section: "Administration",
    summary: "Who did what",
    description: "Newest first. What happened to a fact is told by the fact itself.",
    caller: "admin",
    query: AuditQuery,
    answer: z.strictObject({ events: z.array(AuditEvent), nextBefore: NextBefore }),
    handle: ({ by, query }) => audit.list(by, query),
  }),
];
