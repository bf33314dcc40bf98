import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { html } from "htm/preact";
import { z } from "zod";
import type { Sessions } from "../access/sessions.ts";
import { AppError } from "../errors.ts";
import { render } from "./layout.ts";
import { networkOf } from "./network.ts";
import { SignInPage } from "./pages/sign-in.ts";
import { parse } from "./parse.ts";
import { forgetSession, keepSession } from "./session-cookie.ts";
import type { Viewers } from "./viewer.ts";

const WRONG = "No key like this is valid here.";
const OVER =
  "You were signed out: nobody used this browser for two hours, twelve are over, or the key was revoked.";

const SignInForm = z.object({ key: z.string().trim().max(512) });
const SignInQuery = z.object({ over: z.string().optional() });

export type Charge = (name: string) => Promise<{ readonly retryAfterSeconds: number } | undefined>;

/** How often somebody may try to sign in. */
export interface SignInLimits {
  /** Takes one attempt from the budget of an address. */
  readonly attempt: Charge;
  /** Takes one wrong key from the budget that all addresses share; with 0 only asks whether any is left. */
  readonly wrong: (count: 0 | 1) => ReturnType<Charge>;
}

interface SignInOptions {
  readonly sessions: Sessions;
  readonly viewers: Viewers;
  readonly limits: SignInLimits;
}

export function signInRoutes(app: FastifyInstance, options: SignInOptions): void {
  const { sessions, viewers, limits } = options;
  const page = (reply: FastifyReply, fault?: string) =>
    reply.type("text/html; charset=utf-8").send(render(html`<${SignInPage} fault=${fault} />`));

  const endSession = async (request: FastifyRequest) => {
    const viewer = await viewers.find(request);
    if (viewer?.token !== undefined) await sessions.signOut(viewer.principal, viewer.token);
  };

  app.get("/sign-in", async (request, reply) => {
    if (await viewers.find(request)) return reply.redirect("/ui", 303);
    const { over } = parse(SignInQuery, request.query);
    return page(reply, over === undefined ? undefined : OVER);
  });

  app.post("/sign-in", async (request, reply) => {
    refuseOften(reply, await limits.attempt(networkOf(request.ip)));
    refuseOften(reply, await limits.wrong(0));
    const { key } = parse(SignInForm, request.body);
    const session = await sessions.signIn(key);
    if (!session) {
      await limits.wrong(1);
      return page(reply.code(401), WRONG);
    }
    // Whoever signs in has one session in this browser: the one before it, or one that somebody planted, ends.
    await endSession(request);
    keepSession(request, reply, session);
    return reply.redirect("/ui", 303);
  });

  app.post("/sign-out", async (request, reply) => {
    await endSession(request);
    forgetSession(request, reply);
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
