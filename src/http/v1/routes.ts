import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Principal } from "../../access/principal.ts";
import { type KeyService, NewKey } from "../../access/service.ts";
import { NewAccount } from "../../channels/account.ts";
import type { ChannelService } from "../../channels/service.ts";
import { AppError } from "../../errors.ts";
import { type OrgService, Slug } from "../../orgs/service.ts";
import { type Authenticate, requirePrincipal } from "../authentication.ts";
import { ownHosts } from "../own-hosts.ts";

export interface V1Options {
  readonly authenticate: Authenticate;
  readonly keys: KeyService;
  readonly orgs: OrgService;
  readonly channels: ChannelService;
  /** Host names beside the loopback ones, without ports. */
  readonly allowedHosts?: readonly string[];
}

const Named = z.strictObject({ slug: Slug, name: z.string().min(1).max(100).optional() });
const WithId = z.object({ id: z.string() });
const AccountPath = z.object({ channel: z.string(), account: z.string() });

/** `/v1`: what an operator does, for programs and for the command line while a server is running. */
export function v1Routes({ authenticate, keys, orgs, channels, allowedHosts = [] }: V1Options) {
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook("onRequest", ownHosts(allowedHosts));
    const by = (request: FastifyRequest): Promise<Principal> =>
      requirePrincipal(authenticate, request);

    app.get("/v1/keys", async (request) => ({ keys: await keys.list(await by(request)) }));
    app.post("/v1/keys", async (request, reply) => {
      const created = await keys.create(await by(request), parse(NewKey, request.body));
      return reply.code(201).send(created);
    });
    app.delete("/v1/keys/:id", async (request) =>
      keys.revoke(await by(request), parse(WithId, request.params).id),
    );

    app.get("/v1/orgs", async (request) => ({ orgs: await orgs.list(await by(request)) }));
    app.post("/v1/orgs", async (request, reply) => {
      const { slug, name } = parse(Named, request.body);
      return reply.code(201).send(await orgs.create(await by(request), slug, name ?? slug));
    });

    app.get("/v1/stores", async (request) => ({
      stores: await orgs.listStores(await by(request)),
    }));
    app.post("/v1/stores", async (request, reply) => {
      const { slug, name } = parse(Named, request.body);
      return reply.code(201).send(await orgs.createStore(await by(request), slug, name ?? slug));
    });

    app.get("/v1/channels", async (request) => ({
      channels: await channels.list(await by(request)),
    }));
    app.post("/v1/channels", async (request, reply) => {
      const account = await channels.add(await by(request), parse(NewAccount, request.body));
      return reply.code(201).send(account);
    });
    app.delete("/v1/channels/:channel/:account", async (request, reply) => {
      const path = parse(AccountPath, request.params);
      await channels.remove(await by(request), path.channel, path.account);
      return reply.code(204).send();
    });
  };
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join(".")}: ${message}` : message,
  );
  throw new AppError("INVALID_INPUT", faults.join("; "));
}
