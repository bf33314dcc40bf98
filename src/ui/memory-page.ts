import cookie from "@fastify/cookie";
import formbody from "@fastify/formbody";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Principal } from "../access/principal.ts";
import type { Sessions } from "../access/sessions.ts";
import type { ChatArchive } from "../chat/archive.ts";
import type { ErasureService } from "../erasure/service.ts";
import { AppError } from "../errors.ts";
import type { Exports } from "../export/service.ts";
import type { Duplicates } from "../facts/duplicates.ts";
import type { Explanations } from "../facts/explanation.ts";
import type { OrgReview } from "../facts/org-review.ts";
import type { FactReview } from "../facts/review.ts";
import type { FactService } from "../facts/service.ts";
import type { KvReview } from "../kv/review.ts";
import type { LinkCodes } from "../links/codes.ts";
import type { LinkService } from "../links/service.ts";
import type { OrgService } from "../orgs/service.ts";
import type { OverviewService } from "../overview/service.ts";
import type { RecallService } from "../recall/service.ts";
import type { TurnService } from "../turns/service.ts";
import type { Approval } from "../users/approval.ts";
import type { People } from "../users/people.ts";
import { type AdminServices, adminRoutes } from "./admin-routes.ts";
import { chatRoutes } from "./chat-routes.ts";
import { dataRoutes } from "./data-routes.ts";
import { entryRoutes } from "./entry-routes.ts";
import { answerError } from "./errors.ts";
import { exportRoute } from "./export-route.ts";
import { factRoutes } from "./fact-routes.ts";
import { linkRoutes } from "./link-routes.ts";
import { listRoutes } from "./list-routes.ts";
import { overviewRoutes } from "./overview-routes.ts";
import { peopleRoutes } from "./people-routes.ts";
import { Places } from "./places.ts";
import { previewRoutes } from "./preview-routes.ts";
import { reviewRoutes } from "./review-routes.ts";
import { sameOrigin } from "./same-origin.ts";
import { SCRIPT } from "./script.ts";
import { type Charge, refuseOften, type SignInLimits, signInRoutes } from "./sign-in-routes.ts";
import { STYLE } from "./style.ts";
import { Viewers } from "./viewer.ts";

/** A value takes 4 KiB as JSON, which a form writes as up to nine characters for each of two bytes. */
const BODY_LIMIT = 32_768;

/** Nothing but the page's own style sheet and script, which asks this server alone, and forms that lead nowhere else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export interface MemoryPageOptions extends AdminServices {
  readonly sessions: Sessions;
  /** `AUTH=none`: everybody who can reach the page is this principal, and nobody signs in. */
  readonly anonymous: (() => Promise<Principal>) | undefined;
  readonly orgs: OrgService;
  readonly people: People;
  readonly approval: Approval;
  readonly links: LinkService;
  readonly codes: LinkCodes;
  readonly entries: KvReview;
  readonly archive: ChatArchive;
  readonly recall: RecallService;
  readonly facts: FactService;
  readonly erasures: ErasureService;
  readonly review: FactReview;
  readonly orgReview: OrgReview;
  readonly duplicates: Duplicates;
  readonly explanations: Explanations;
  readonly turns: TurnService;
  readonly overview: OverviewService;
  readonly exports: Exports;
  /** @throws AppError UNAVAILABLE until the server has started */
  readonly requireReady: () => void;
  /** Refuses foreign host names and origins. */
  readonly requireOwnHost: (request: FastifyRequest) => Promise<void>;
  /** Takes one request from the budget of a key. */
  readonly charge: (principal: Principal) => ReturnType<Charge>;
  readonly signInLimits: SignInLimits;
}

/** `/ui`: where people see, correct and delete what is remembered. Everything works without JavaScript. */
export async function memoryPage(app: FastifyInstance, options: MemoryPageOptions): Promise<void> {
  const { sessions, anonymous, orgs, people, review } = options;
  const viewers = new Viewers(sessions, anonymous);
  const places = new Places(people, orgs);

  app.removeAllContentTypeParsers();
  await app.register(formbody, { bodyLimit: BODY_LIMIT });
  await app.register(cookie);

  app.setErrorHandler((error, request, reply) =>
    answerError(error, request, reply, viewers.ofAny(request)),
  );
  app.setNotFoundHandler(() => {
    throw new AppError("NOT_FOUND", "There is no page at this address.");
  });
  app.addHook("onRequest", async () => options.requireReady());
  app.addHook("onRequest", options.requireOwnHost);
  app.addHook("onRequest", sameOrigin);
  app.addHook("onSend", async (_request, reply) => {
    reply.headers({
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      // With no-referrer browsers would send their forms without the origin that we ask for.
      "referrer-policy": "same-origin",
    });
    if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
  });

  const keep = (path: string, type: string, text: string) =>
    app.get(path, async (_request, reply) =>
      reply
        .type(`${type}; charset=utf-8`)
        .header("cache-control", "public, max-age=31536000, immutable")
        .send(text),
    );
  keep("/style.css", "text/css", STYLE);
  keep("/script.js", "text/javascript", SCRIPT);
  signInRoutes(app, { sessions, viewers, limits: options.signInLimits });

  await app.register(async (inside) => {
    inside.addHook("onRequest", viewers.require);
    inside.addHook("onRequest", async (request, reply) => {
      refuseOften(reply, await options.charge(viewers.of(request).principal));
    });
    overviewRoutes(inside, { viewers, ...options });
    listRoutes(inside, { viewers, places, orgs, people, review });
    factRoutes(inside, { ...options, viewers, places });
    reviewRoutes(inside, { ...options, viewers, places });
    exportRoute(inside, { viewers, exports: options.exports });
    peopleRoutes(inside, { viewers, ...options });
    linkRoutes(inside, { viewers, ...options });
    entryRoutes(inside, { viewers, ...options });
    chatRoutes(inside, { viewers, ...options });
    previewRoutes(inside, { viewers, ...options });
    adminRoutes(inside, { viewers, ...options });
    dataRoutes(inside, { viewers, ...options });
  });
}
