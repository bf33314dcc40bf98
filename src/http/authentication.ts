import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { bearerToken } from "../access/key.ts";
import type { Principal } from "../access/principal.ts";
import { AppError } from "../errors.ts";

export interface AuthenticationOptions {
  /** Who a key speaks for. */
  readonly authenticate: (key: string) => Promise<Principal | undefined>;
  /** `AUTH=none`: every request speaks for this principal. */
  readonly anonymous: (() => Promise<Principal>) | undefined;
  /** The token that the command line reads from the data directory of a running server. */
  readonly operatorToken: string;
  /** The owner of the org that the command line names. */
  readonly operator: (org: string | undefined) => Promise<Principal>;
}

export type Authenticate = (request: FastifyRequest) => Promise<Principal | undefined>;

/** Says who is calling, from the `Authorization` header alone. */
export function authentication(options: AuthenticationOptions): Authenticate {
  const operatorHash = sha256(options.operatorToken);
  return async (request) => {
    const token = bearerToken(request.headers.authorization);
    if (token === undefined) return options.anonymous?.();
    if (timingSafeEqual(sha256(token), operatorHash)) {
      const org = request.headers["x-souvenir-org"];
      return options.operator(typeof org === "string" ? org : undefined);
    }
    return options.authenticate(token);
  };
}

/** For routes that answer problem details: a missing or wrong credential is 401 with a challenge. */
export async function requirePrincipal(
  authenticate: Authenticate,
  request: FastifyRequest,
): Promise<Principal> {
  const principal = await authenticate(request);
  if (principal) return principal;
  throw new Unauthorized();
}

export class Unauthorized extends AppError {
  constructor(message = "send Authorization: Bearer <API key>") {
    super("FORBIDDEN", message);
  }
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
