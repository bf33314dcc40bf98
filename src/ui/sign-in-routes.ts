import type { FastifyInstance, FastifyReply } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import type { Sessions } from "../access/sessions.ts";
import { AppError } from "../errors.ts";
import { render } from "./layout.ts";
import { SignInPage } from "./pages/sign-in.ts";
import { parse } from "./parse.ts";
import { forgetSession, keepSession } from "./session-cookie.ts";
import type { Viewers } from "./viewer.ts";

const WRONG = "No key like this is valid here.";
const OVER = "You were signed out: 12 hours are over, or the key was revoked.";

const SignInForm = z.object({ key: z.string().trim().max(512) });
const SignInQuery = z.object({ over: z.string().optional() });

export type Charge = (name: string) => Promise<{ readonly retryAfterSeconds: number } | undefined>;

interface SignInOptions {
  readonly sessions: Sessions;
  readonly viewers: Viewers;
  readonly charge: Charge;
}

export function signInRoutes(app: FastifyInstance, options: SignInOptions): void {
  const { sessions, viewers, charge } = options;
  const page = (reply: FastifyReply, fault?: string) =>
    reply.type("text/html; charset=utf-8").send(render(html`<${SignInPage} fault=${fault} />`));

  app.get("/sign-in", async (request, reply) => {
    if (await viewers.find(request)) return reply.redirect("/ui", 303);
    const { over } = parse(SignInQuery, request.query);
    return page(reply, over === undefined ? undefined : OVER);
  });

  app.post("/sign-in", async (request, reply) => {
    refuseOften(reply, await charge(request.ip));
    const { key } = parse(SignInForm, request.body);
    const session = await sessions.signIn(key);
    if (!session) return page(reply.code(401), WRONG);
    keepSession(request, reply, session);
    return reply.redirect("/ui", 303);
  });

  app.post("/sign-out", async (request, reply) => {
    const viewer = await viewers.find(request);
    if (viewer?.token !== undefined) await sessions.signOut(viewer.principal, viewer.token);
    forgetSession(reply);
    return reply.redirect("/ui/sign-in", 303);
  });
}

/** @throws AppError RATE_LIMITED */
export function refuseOften(reply: FastifyReply, limited: Awaited<ReturnType<Charge>>): void {
  if (!limited) return;
  const seconds = Math.ceil(limited.retryAfterSeconds);
  reply.header("retry-after", String(seconds));
  throw new AppError("RATE_LIMITED", `Too many requests. Try again in ${seconds} seconds.`);
}
