import type {
  ListToolsResult,
  McpRequestContext,
  ServerContext,
} from "@modelcontextprotocol/server";
import { McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { FastifyBaseLogger } from "fastify";
import { hasRole, type Principal } from "../access/principal.ts";
import { AppError } from "../errors.ts";
import { pathText } from "../json-faults.ts";
import { failureOf, protocolErrorOf, success } from "./answers.ts";
import { readArguments } from "./arguments.ts";
import { callerOf, principalOf } from "./caller.ts";
import { type InputSchema, inputSchemaOf, outputSchemaOf } from "./schema.ts";
import { type Tool, type View, viewOf } from "./tool.ts";

/**
 * Guards a resource or prompt callback, whose last argument is the SDK's context: an `AppError` is told to the
 * client, anything else is logged and hidden.
 */
export type Shield = <A extends unknown[], R>(
  callback: (...args: A) => R | Promise<R>,
) => (...args: A) => Promise<R>;

export interface ServerParts {
  readonly name: string;
  readonly version: string;
  readonly instructions?: string | ((view: View) => string);
  /** Listed in this order. With none, `describe` may register tools of its own kind. */
  readonly tools: readonly Tool[];
  /** Registers resources and prompts on one request's server; callbacks know the caller by `principalOf(ctx)`. */
  readonly describe?: (server: McpServer, surface: { view: View; shield: Shield }) => void;
}

interface PlannedTool {
  readonly tool: Tool;
  readonly input: InputSchema;
}
interface Plan {
  readonly view: View;
  readonly tools: ReadonlyMap<string, PlannedTool>;
  readonly listed: ListToolsResult["tools"];
}

/** One hour: a key's tools and schemas change only with a new version of the server. */
const LIST_HINT = { ttlMs: 3_600_000, cacheScope: "private" } as const;

/**
 * Builds the SDK server of one request. All that is costly (JSON Schemas) is made once for each view, a view
 * being a role and the names of the pinned parameters; an instance holds nothing that outlives its request.
 */
export class ServerFactory {
  readonly #parts: ServerParts;
  readonly #log: FastifyBaseLogger;
  readonly #plans = new Map<string, Plan>();

  constructor(parts: ServerParts, log: FastifyBaseLogger) {
    this.#parts = parts;
    this.#log = log;
  }

  build({ authInfo }: Pick<McpRequestContext, "authInfo">): McpServer {
    const plan = this.#planFor(callerOf(authInfo).principal);
    const { name, version, instructions } = this.#parts;
    const text = typeof instructions === "function" ? instructions(plan.view) : instructions;
    const server = new McpServer(
      { name, version },
      {
        ...(text !== undefined && { instructions: text }),
        ...(plan.tools.size > 0 && { capabilities: { tools: { listChanged: false } } }),
        cacheHints: {
          "server/discover": LIST_HINT,
          "tools/list": LIST_HINT,
          "prompts/list": LIST_HINT,
          "resources/templates/list": LIST_HINT,
        },
      },
    );
    if (plan.tools.size > 0) this.#serveTools(server, plan);
    this.#parts.describe?.(server, {
      view: plan.view,
      shield: (callback) => this.#shield(callback),
    });
    promiseNoChanges(server);
    return server;
  }

  #serveTools({ server }: McpServer, plan: Plan): void {
    server.setRequestHandler("tools/list", () => ({ tools: [...plan.listed] }));
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const planned = plan.tools.get(params.name);
      if (planned === undefined) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `Unknown tool: ${pathText([params.name])}`,
        );
      }
      return this.#call(planned, context);
    });
  }

  async #call({ tool, input }: PlannedTool, context: ServerContext) {
    const { principal, sent, faults } = callerOf(context.http?.authInfo);
    try {
      if (!hasRole(principal, tool.minRole ?? "member")) {
        throw new AppError("FORBIDDEN", `${tool.name} needs a key with the role ${tool.minRole}.`);
      }
      const values = readArguments(input, sent, faults, principal.pins);
      const output = await tool.handle(values, { principal, signal: context.mcpReq.signal });
      return success(output);
    } catch (error) {
      const cancelled = context.mcpReq.signal.aborted;
      return failureOf(error, { tool: tool.name, principal, cancelled }, this.#log);
    }
  }

  #shield<A extends unknown[], R>(callback: (...args: A) => R | Promise<R>) {
    return async (...args: A): Promise<R> => {
      try {
        return await callback(...args);
      } catch (error) {
        const context = args.at(-1) as ServerContext;
        throw protocolErrorOf(error, principalOf(context), this.#log);
      }
    };
  }

  #planFor(principal: Principal): Plan {
    const view = viewOf(principal);
    const key = JSON.stringify(view);
    let plan = this.#plans.get(key);
    if (plan === undefined) {
      plan = planFor(view, principal, this.#parts.tools);
      this.#plans.set(key, plan);
    }
    return plan;
  }
}

/** A client that may wait for changed lists keeps a stream open for them, for nothing. */
function promiseNoChanges({ server }: McpServer): void {
  const { resources, prompts } = server.getCapabilities();
  server.registerCapabilities({
    ...(resources !== undefined && { resources: { listChanged: false } }),
    ...(prompts !== undefined && { prompts: { listChanged: false } }),
  });
}

function planFor(view: View, principal: Principal, tools: readonly Tool[]): Plan {
  const planned = tools
    .filter((tool) => tool.isOffered?.() ?? true)
    .map((tool) => ({ tool, input: inputSchemaOf(tool, view.pins) }));
  return {
    view,
    tools: new Map(planned.map((entry) => [entry.tool.name, entry])),
    listed: planned
      .filter(({ tool }) => hasRole(principal, tool.minRole ?? "member"))
      .map(({ tool, input }) => ({
        name: tool.name,
        title: tool.title,
        description: tool.description,
        inputSchema: input.published,
        outputSchema: outputSchemaOf(tool),
        annotations: told(tool.annotations),
        ...(tool.alwaysLoad === true && { _meta: { "anthropic/alwaysLoad": true } }),
      })),
  };
}

/** Without what a client assumes where nothing is said: a tool that writes, and does so anew each time. */
function told({ ...annotations }: Partial<Tool["annotations"]>): Partial<Tool["annotations"]> {
  if (annotations.readOnlyHint === false) {
    if (annotations.idempotentHint === false) delete annotations.idempotentHint;
    delete annotations.readOnlyHint;
  }
  return annotations;
}
