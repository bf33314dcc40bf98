import type { FastifyInstance } from "fastify";
import type { Principal } from "../access/principal.ts";
import type { KeyService } from "../access/service.ts";
import type { AuditService } from "../audit/service.ts";
import type { Deliveries } from "../channels/deliveries.ts";
import type { ChannelService } from "../channels/service.ts";
import type { JobService } from "../jobs/service.ts";
import type { OrgService } from "../orgs/service.ts";
import type { RecallService } from "../recall/service.ts";
import type { RulesService } from "../rules/service.ts";
import type { TurnService } from "../turns/service.ts";
import type { People } from "../users/people.ts";
import { auditRoutes } from "./audit-routes.ts";
import { comparisonRoutes } from "./comparison-routes.ts";
import { jobRoutes } from "./job-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import type { KeyNames } from "./pages/actor.ts";
import { rulesRoutes } from "./rules-routes.ts";
import type { Viewers } from "./viewer.ts";

/** What only admins' screens need. */
export interface AdminServices {
  readonly rules: RulesService;
  readonly recall: Pick<RecallService, "stableBlock">;
  readonly turns: TurnService;
  readonly jobs: JobService;
  readonly deliveries: Deliveries;
  readonly keys: KeyService;
  readonly audit: AuditService;
  readonly channels: ChannelService;
}

interface AdminOptions extends AdminServices {
  readonly viewers: Viewers;
  readonly orgs: OrgService;
  readonly people: People;
}

export interface AdminPages extends AdminOptions {
  /** What people call the keys that did something. */
  readonly keyNames: (by: Principal) => Promise<KeyNames>;
}

/** Screens for keys that run an org: every service behind them asks for an admin key without pins. */
export function adminRoutes(app: FastifyInstance, options: AdminOptions): void {
  const pages: AdminPages = {
    ...options,
    async keyNames(by) {
      const keys = await options.keys.list(by);
      return new Map(keys.map(({ id, name }) => [id, name]));
    },
  };
  rulesRoutes(app, pages);
  comparisonRoutes(app, pages);
  jobRoutes(app, pages);
  keyRoutes(app, pages);
  auditRoutes(app, pages);
}
