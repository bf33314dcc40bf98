import type { FastifyInstance } from "fastify";
import type { Deliveries } from "../../channels/deliveries.ts";
import type { ChatArchive } from "../../chat/archive.ts";
import type { Sending } from "../../chat/sending.ts";
import type { ChatService } from "../../chat/service.ts";
import type { ErasureService } from "../../erasure/service.ts";
import type { FactService } from "../../facts/service.ts";
import type { JobService } from "../../jobs/service.ts";
import type { KvReview } from "../../kv/review.ts";
import type { KvService } from "../../kv/service.ts";
import type { OverviewService } from "../../overview/service.ts";
import type { RecallService } from "../../recall/service.ts";
import type { RulesService } from "../../rules/service.ts";
import type { TurnService } from "../../turns/service.ts";
import { ownHosts } from "../own-hosts.ts";
import { type AdministrationServices, administrationRoutes } from "./administration.ts";
import { archiveRoutes } from "./archive.ts";
import { ASSERT_LINKS } from "./assertions.ts";
import { binding } from "./bind.ts";
import { readJsonExactly } from "./body.ts";
import { chatRoutes } from "./chat.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { erasureRoutes } from "./erasures.ts";
import { type ExportServices, exportRoutes } from "./exports.ts";
import { type FactListServices, factListRoutes } from "./fact-lists.ts";
import { factRoutes } from "./facts.ts";
import { type ImportServices, importRoutes } from "./imports.ts";
import { jobRoutes } from "./jobs.ts";
import { memoryRoutes } from "./memory.ts";
import { POST_MESSAGES } from "./messages.ts";
import { answerOtherMethods } from "./methods.ts";
import { overviewRoutes } from "./overview.ts";
import { type PeopleServices, peopleRoutes } from "./people.ts";
import { recallRoutes } from "./recall.ts";
import { referenceRoutes } from "./reference/routes.ts";
import type { Route } from "./route.ts";
import { rulesRoutes } from "./rules.ts";
import { type ServingOptions, serve } from "./serve.ts";
import { turnRoutes } from "./turns.ts";

interface V1Services
  extends PeopleServices,
    AdministrationServices,
    ExportServices,
    FactListServices {
  readonly deliveries: Deliveries;
  readonly jobs: JobService;
  readonly turns: TurnService;
  readonly imports: ImportServices;
  readonly erasures: ErasureService;
  readonly kv: KvService;
  readonly entries: KvReview;
  readonly archive: ChatArchive;
  readonly rules: RulesService;
  readonly overview: OverviewService;
  readonly chat: ChatService;
  readonly sending: Sending;
  readonly facts: FactService;
  readonly recall: RecallService;
}

export interface V1Options extends V1Services, Omit<ServingOptions, "bind"> {
  readonly version: string;
  /** Host names beside the loopback ones, without ports. */
  readonly allowedHosts: readonly string[];
}

/** Every route that takes a key. One that is not here, or has no line in the tests of all routes, fails them. */
function routesOf(services: V1Services): Route[] {
  return [
    ...memoryRoutes(services),
    ...factListRoutes(services),
    ...factRoutes(services),
    ...recallRoutes(services.recall),
    ...chatRoutes(services),
    ...archiveRoutes(services.archive),
    ...peopleRoutes(services),
    ...rulesRoutes(services.rules),
    ...importRoutes(services.imports),
    ...exportRoutes(services),
    ...erasureRoutes(services),
    ...overviewRoutes(services.overview),
    ...jobRoutes(services.jobs),
    ...turnRoutes(services.turns),
    ...deliveryRoutes(services.deliveries),
    ...administrationRoutes(services),
  ];
}

/** `/v1`: all that tools and the memory page do, for programs, and for the command line while a server is running. */
export function v1Routes(options: V1Options) {
  return async (app: FastifyInstance): Promise<void> => {
    readJsonExactly(app);
    app.addHook("onRequest", ownHosts(options.allowedHosts));
    const keyed = routesOf(options);
    const described = [...keyed, POST_MESSAGES, ASSERT_LINKS];
    const reference = referenceRoutes(described, options.version);
    const { people, orgs } = options;
    serve(app, [...keyed, ...reference], { ...options, bind: binding(people, orgs) });
    await app.register(async (inside) => answerOtherMethods(inside, [...described, ...reference]), {
      prefix: "/v1",
    });
  };
}
