import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../access/principal.ts";
import type { Sessions } from "../access/sessions.ts";
import { isLive } from "./live.ts";
import { forgetSession, sessionToken } from "./session-cookie.ts";

/** Somebody who looks at the page. */
export interface Viewer {
  readonly principal: Principal;
  /** Of the session; undefined where nobody needs to sign in. */
  readonly token: string | undefined;
}

/** Knows who sent a request. */
export class Viewers {
  readonly #sessions: Sessions;
  readonly #anonymous: (() => Promise<Principal>) | undefined;
  readonly #known = new WeakMap<FastifyRequest, Viewer>();

  constructor(sessions: Sessions, anonymous: (() => Promise<Principal>) | undefined) {
    this.#sessions = sessions;
    this.#anonymous = anonymous;
  }

  /** Who signed in, looked up anew for each request: revoking a key ends its sessions at once. */
  async find(request: FastifyRequest): Promise<Viewer | undefined> {
    if (this.#anonymous) return { principal: await this.#anonymous(), token: undefined };
    const token = sessionToken(request);
    const principal = token === undefined ? undefined : await this.#sessions.find(token);
    return principal && { principal, token };
  }

  /** A hook for pages that need somebody; sends everybody else to sign in. */
  readonly require = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const viewer = await this.find(request);
    if (viewer) {
      this.#known.set(request, viewer);
      return;
    }
    const isOver = sessionToken(request) !== undefined;
    if (isOver) forgetSession(request, reply);
    const signIn = isOver ? "/ui/sign-in?over=1" : "/ui/sign-in";
    // A script follows a redirect by itself and would put the sign-in page into a part of this one.
    if (isLive(request.headers)) await reply.code(401).header("hx-redirect", signIn).send();
    else await reply.redirect(signIn, 303);
  };

  /** Who sent a request that `require` let through. */
  of(request: FastifyRequest): Viewer {
    const viewer = this.#known.get(request);
    if (!viewer) throw new Error("a request reached its page without a viewer");
    return viewer;
  }

  /** The same for pages that do without, such as errors. */
  ofAny(request: FastifyRequest): Viewer | undefined {
    return this.#known.get(request);
  }
}
