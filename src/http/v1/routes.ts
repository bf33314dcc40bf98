import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Principal } from "../../access/principal.ts";
import { type KeyService, NewKey } from "../../access/service.ts";
import { NewAccount } from "../../channels/account.ts";
import type { Deliveries } from "../../channels/deliveries.ts";
import type { ChannelService } from "../../channels/service.ts";
import type { ErasureService } from "../../erasure/service.ts";
import { AppError } from "../../errors.ts";
import type { JobService } from "../../jobs/service.ts";
import { MemoryChanges } from "../../orgs/memory.ts";
import { type OrgService, Slug } from "../../orgs/service.ts";
import type { TurnService } from "../../turns/service.ts";
import { type Authenticate, requirePrincipal } from "../authentication.ts";
import { ownHosts } from "../own-hosts.ts";
import { readJsonExactly } from "./body.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { erasureRoutes } from "./erasures.ts";
import { type ExportServices, exportRoutes } from "./exports.ts";
import { type ImportServices, importRoutes } from "./imports.ts";
import { jobRoutes } from "./jobs.ts";
import { parse, WithId } from "./parse.ts";
import { type PeopleServices, peopleRoutes } from "./people.ts";
import { turnRoutes } from "./turns.ts";

export interface V1Options extends PeopleServices, ExportServices {
  readonly authenticate: Authenticate;
  readonly keys: KeyService;
  readonly orgs: OrgService;
  readonly channels: ChannelService;
  readonly deliveries: Deliveries;
  readonly jobs: JobService;
  readonly turns: TurnService;
  readonly imports: ImportServices;
  readonly erasures: ErasureService;
  /** Takes messages from the caller's budget. */
  readonly charge: (
    principal: Principal,
    messages: number,
  ) => Promise<{ readonly retryAfterSeconds: number } | undefined>;
  /** Host names beside the loopback ones, without ports. */
  readonly allowedHosts: readonly string[];
}

const Named = z.strictObject({ slug: Slug, name: z.string().min(1).max(100).optional() });
const AccountPath = z.object({ channel: z.string(), account: z.string() });

/** `/v1`: what an operator does, for programs and for the command line while a server is running. */
export function v1Routes(options: V1Options) {
  const { authenticate, keys, orgs, channels, jobs, turns, imports, charge, allowedHosts } =
    options;
  return async (app: FastifyInstance): Promise<void> => {
    const principals = new WeakMap<FastifyRequest, Principal>();
    const by = (request: FastifyRequest): Principal => {
      const principal = principals.get(request);
      if (!principal) throw new Error("a request reached its route without a principal");
      return principal;
    };
    readJsonExactly(app);
    app.addHook("onRequest", ownHosts(allowedHosts));
    app.addHook("onRequest", async (request, reply) => {
      const principal = await requirePrincipal(authenticate, request);
      principals.set(request, principal);
      const limited = await charge(principal, 1);
      if (!limited) return;
      reply.header("retry-after", String(Math.ceil(limited.retryAfterSeconds)));
      throw new AppError("RATE_LIMITED", "too many requests with this key");
    });

    app.get("/v1/keys", async (request) => ({ keys: await keys.list(by(request)) }));
    app.post("/v1/keys", async (request, reply) => {
      const created = await keys.create(by(request), parse(NewKey, request.body));
      return reply.code(201).send(created);
    });
    app.delete("/v1/keys/:id", async (request) =>
      keys.revoke(by(request), parse(WithId, request.params).id),
    );

    app.get("/v1/orgs", async (request) => ({ orgs: await orgs.list(by(request)) }));
    app.post("/v1/orgs", async (request, reply) => {
      const { slug, name } = parse(Named, request.body);
      return reply.code(201).send(await orgs.create(by(request), slug, name ?? slug));
    });

    app.get("/v1/stores", async (request) => ({
      stores: await orgs.listStores(by(request)),
    }));
    app.post("/v1/stores", async (request, reply) => {
      const { slug, name } = parse(Named, request.body);
      return reply.code(201).send(await orgs.createStore(by(request), slug, name ?? slug));
    });

    app.get("/v1/channels", async (request) => ({
      channels: await channels.list(by(request)),
    }));
    app.post("/v1/channels", async (request, reply) => {
      const account = await channels.add(by(request), parse(NewAccount, request.body));
      return reply.code(201).send(account);
    });
    app.delete("/v1/channels/:channel/:account", async (request, reply) => {
      const path = parse(AccountPath, request.params);
      await channels.remove(by(request), path.channel, path.account);
      return reply.code(204).send();
    });

    app.get("/v1/memory", (request) => orgs.memory(by(request)));
    app.patch("/v1/memory", (request) =>
      orgs.changeMemory(by(request), parse(MemoryChanges, request.body)),
    );

    deliveryRoutes(app, options.deliveries, by);
    jobRoutes(app, jobs, by);
    turnRoutes(app, turns, by);
    peopleRoutes(app, options, by);
    importRoutes(app, imports, by);
    exportRoutes(app, options, by);
    erasureRoutes(app, options, by);
  };
}
