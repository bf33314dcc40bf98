import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { KeyRole, Principal } from "../../access/principal.ts";
import type { ErrorCode } from "../../errors.ts";

/** The sections of the reference, in its order. */
export const SECTIONS = {
  Memory: "What is known of a person: their key-value map, and all of it in one call.",
  Facts:
    "Claims that are confirmed, contradicted, decayed and forgotten, and what an agent sees of them.",
  Chat: "The archive of every message, and sending.",
  People: "Who the org's people are: approval, links between their identities.",
  Rules: "What agents are told before any fact.",
  Data: "Taking along, and taking away.",
  Operations: "What runs, what failed, and what was learned at which cost.",
  Administration: "Keys, stores, channels, settings, and who did what.",
  Reference: "This description.",
} as const;
type Section = keyof typeof SECTIONS;

/**
 * Who may call: anybody, keys of this role and above (from `admin` on without pins), the server's own command line, or
 * whoever signs the body.
 */
export type RouteCaller = "anybody" | KeyRole | "operator" | "signer";

/** What a route is to its callers, beside its schemas. */
interface RouteText {
  /** Of the operation, for generated clients. */
  readonly id: string;
  readonly section: Section;
  readonly summary: string;
  readonly description?: string;
  readonly caller: RouteCaller;
  /** Codes that only this route's callers have to think of; those of every route go without saying. */
  readonly errors?: readonly ErrorCode[];
}

interface Call<P, Q, B> {
  readonly by: Principal;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly idempotencyKey: string | undefined;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What JSON makes an answer of: a date becomes text. */
type Sendable<T> = string extends T
  ? T | Date
  : T extends readonly (infer Item)[]
    ? readonly Sendable<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Sendable<T[Key]> }
      : T;

type None = z.ZodObject<Record<never, never>, z.core.$strict>;

interface RouteSpec<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  A extends z.ZodType,
> extends RouteText {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `:name` for each of `params`. */
  readonly url: `/v1/${string}`;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** A body that works, for the reference. */
  readonly example?: z.input<B>;
  readonly bodyLimit?: number;
  /** Takes an `Idempotency-Key` header. */
  readonly idempotent?: true;
  /** Absent: 200. */
  readonly status?: 201 | 202 | 204;
  readonly answer: A;
  /** What is answered instead of JSON. */
  readonly media?: readonly string[];
  handle(
    call: Call<z.output<P>, z.output<Q>, z.output<B>>,
  ): Promise<Sendable<z.input<A>>> | Sendable<z.input<A>>;
}

/** A route of any schemas. */
export type Route = RouteSpec<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>;
/** A route as the reference has it: what serves it is registered elsewhere. */
export type DescribedRoute = Omit<Route, "handle">;

/** An export is noted when it is begun: nobody gets its headers alone. */
export function answersHead({ method, media, caller }: DescribedRoute): boolean {
  return method === "GET" && (media === undefined || caller === "anybody");
}

/**
 * Infers the types of `handle` from the schemas, then forgets them, so that all routes fit into one list. A parameter that
 * a route does not know is refused, whatever its schema says: one that is misspelt would else be passed over.
 */
export function route<
  A extends z.ZodType,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodType = z.ZodUndefined,
>(spec: RouteSpec<P, Q, B, A>): Route {
  return { ...spec, ...(spec.query && { query: spec.query.strict() }) } as unknown as Route;
}
