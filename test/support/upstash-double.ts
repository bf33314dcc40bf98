import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";

type Metadata = Readonly<Record<string, string | number>>;
interface Stored {
  readonly id: string;
  readonly vector: number[];
  readonly metadata?: Metadata;
  /** Answers to queries from that many requests on: a write is heard of later. */
  readonly readyAt: number;
}
interface Query {
  readonly vector: number[];
  readonly topK?: number;
  readonly filter?: string;
  readonly includeMetadata?: boolean;
}

/** How the server fails: a status with JSON, a page of HTML with status 502, or no answer at all. */
export type UpstashTrouble = 401 | 429 | 500 | "html" | "hang";

/** One index of Upstash Vector, dense and COSINE, by its wire format: paths, bodies, scores, errors and delay. */
export class UpstashDouble {
  readonly token = "token-of-the-test";
  readonly dimension: number;
  readonly similarityFunction: string;
  /** Path and body of each request. */
  readonly received: { path: string; body: unknown; headers: Record<string, unknown> }[] = [];
  /** Queries do not see a write before so many more requests came. */
  lag = 0;
  /** Deletions are acknowledged, and the vectors go on answering. */
  keepsDeleted = false;
  trouble: UpstashTrouble | undefined;
  /** Runs after the body of an upsert was taken and before it is answered. */
  onUpsert: (() => Promise<void>) | undefined;
  readonly #namespaces = new Map<string, Map<string, Stored>>();
  readonly #app: FastifyInstance = Fastify({
    bodyLimit: 64 * 1024 * 1024,
    forceCloseConnections: true,
  });
  url = "";

  private constructor(dimension: number, similarityFunction: string) {
    this.dimension = dimension;
    this.similarityFunction = similarityFunction;
  }

  static async start(dimension: number, similarityFunction = "COSINE"): Promise<UpstashDouble> {
    const double = new UpstashDouble(dimension, similarityFunction);
    double.#routes();
    double.url = await double.#app.listen({ port: 0, host: "127.0.0.1" });
    return double;
  }

  async stop(): Promise<void> {
    await this.#app.close();
  }

  /** Ids of a namespace's vectors, sorted. */
  ids(namespace: string): string[] {
    return [...(this.#namespaces.get(namespace)?.keys() ?? [])].sort();
  }

  get namespaces(): string[] {
    return [...this.#namespaces.keys()].sort();
  }

  reset(): void {
    this.#namespaces.clear();
    this.received.length = 0;
    this.lag = 0;
    this.keepsDeleted = false;
    this.trouble = undefined;
    this.onUpsert = undefined;
  }

  #routes(): void {
    this.#app.addHook("preHandler", (request, reply) => this.#receive(request, reply));
    const both = (
      command: string,
      handler: (namespace: string, body: never, reply: FastifyReply) => unknown,
    ) => {
      const handle = async (request: FastifyRequest, reply: FastifyReply) => {
        const { namespace = "" } = request.params as { namespace?: string };
        return handler(namespace, request.body as never, reply);
      };
      this.#app.post(`/${command}`, handle);
      this.#app.post(`/${command}/:namespace`, handle);
    };
    both("upsert", (namespace, body: Stored | Stored[], reply) =>
      this.#upsert(namespace, [body].flat(), reply),
    );
    both("query", (namespace, body: Query | Query[], reply) => this.#query(namespace, body, reply));
    both("fetch", (namespace, { ids }: { ids: (string | number)[] }) => ({
      result: ids.map((id) => {
        const found = this.#namespaces.get(namespace)?.get(String(id));
        return found ? { id: found.id } : null;
      }),
    }));
    both("delete", (namespace, body: { ids: string[] } | string[]) => {
      const ids = Array.isArray(body) ? body : body.ids;
      const vectors = this.#namespaces.get(namespace);
      const there = ids.filter((id) => vectors?.has(String(id)));
      if (!this.keepsDeleted) for (const id of there) vectors?.delete(String(id));
      return { result: { deleted: there.length } };
    });
    this.#app.post("/reset", (request) => {
      if ("all" in (request.query as object)) this.#namespaces.clear();
      else this.#namespaces.delete("");
      return { result: "Success" };
    });
    this.#app.post("/list-namespaces", () => ({ result: ["", ...this.#namespaces.keys()] }));
    const info = () => ({
      result: {
        vectorCount: [...this.#namespaces.values()].reduce((sum, { size }) => sum + size, 0),
        pendingVectorCount: 0,
        indexSize: 0,
        dimension: this.dimension,
        similarityFunction: this.similarityFunction,
        namespaces: {},
      },
    });
    this.#app.post("/info", info);
    this.#app.get("/info", info);
  }

  async #receive(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { url, body, headers } = request;
    this.received.push({ path: url, body, headers });
    const { trouble } = this;
    if (trouble === "hang") {
      await new Promise<never>(() => {});
    } else if (trouble === "html") {
      await reply
        .code(502)
        .type("text/html")
        .send("<html>bad gateway, canary-of-the-provider</html>");
    } else if (trouble !== undefined) await refuse(reply, trouble, "canary-of-the-provider");
    else if (headers.authorization !== `Bearer ${this.token}`) {
      await refuse(reply, 401, "Unauthorized: Invalid auth token");
    }
  }

  async #upsert(namespace: string, vectors: Stored[], reply: FastifyReply): Promise<unknown> {
    const wrong = vectors.find(({ vector }) => vector.length !== this.dimension);
    if (wrong) {
      const { length } = wrong.vector;
      return refuse(reply, 422, `Invalid vector dimension: ${length}, expected: ${this.dimension}`);
    }
    const all = this.#namespaces.get(namespace) ?? new Map<string, Stored>();
    this.#namespaces.set(namespace, all);
    const readyAt = this.received.length + this.lag;
    for (const vector of vectors) {
      all.set(String(vector.id), { ...vector, id: String(vector.id), readyAt });
    }
    await this.onUpsert?.();
    return { result: "Success" };
  }

  #query(namespace: string, body: Query | Query[], reply: FastifyReply): unknown {
    const queries = [body].flat();
    if (queries.some(({ vector }) => vector.length !== this.dimension)) {
      return refuse(reply, 422, `Invalid vector dimension, expected: ${this.dimension}`);
    }
    try {
      const results = queries.map((query) => this.#answer(namespace, query));
      return { result: results.length === 1 ? results[0] : results };
    } catch {
      return refuse(reply, 400, "Invalid filter");
    }
  }

  #answer(namespace: string, { vector, topK = 10, filter = "", includeMetadata }: Query) {
    const matches = filterOf(filter);
    return [...(this.#namespaces.get(namespace)?.values() ?? [])]
      .filter(({ readyAt, metadata = {} }) => readyAt <= this.received.length && matches(metadata))
      .map((stored) => ({
        id: stored.id,
        score: (1 + cosine(stored.vector, vector)) / 2,
        ...(includeMetadata && stored.metadata ? { metadata: stored.metadata } : {}),
      }))
      .sort((a, b) => b.score - a.score)
      .slice(0, topK);
  }
}

function refuse(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).send({ error, status });
}

/** `key = 1`, `key = 'text'`, `key IN ('a', 'b')`, with AND between. Anything else is refused, as a mistake would be. */
function filterOf(text: string): (metadata: Metadata) => boolean {
  if (text === "") return () => true;
  const conditions = text.split(" AND ").map((part) => {
    const [, key = "", , equal, list] =
      /^(\w+) (?:(=) (\d+|'[^']*')|IN \(((?:'[^']*'|\d+)(?:, (?:'[^']*'|\d+))*)\))$/.exec(part) ??
      [];
    const values = (list ?? equal)
      ?.split(", ")
      .map((value) => (value.startsWith("'") ? value.slice(1, -1) : Number(value)));
    if (!values) throw new Error("filter");
    return (metadata: Metadata) => values.includes(metadata[key] as string | number);
  });
  return (metadata) => conditions.every((holds) => holds(metadata));
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, squareA, squareB] = [0, 0, 0];
  a.forEach((x, at) => {
    const y = b[at] as number;
    dot += x * y;
    squareA += x * x;
    squareB += y * y;
  });
  return dot / Math.sqrt(squareA * squareB);
}
