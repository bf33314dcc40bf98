import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import type { ChatService } from "../chat/service.ts";
import { AppError } from "../errors.ts";
import type { FactService } from "../facts/service.ts";
import type { RecallService } from "../recall/service.ts";
import { principalOf } from "./caller.ts";
import type { Shield } from "./server.ts";
import type { View } from "./tool.ts";

interface ResourceServices {
  readonly chat: ChatService;
  readonly facts: FactService;
  readonly recall: RecallService;
}

const RECENT_MESSAGES = 20;

/** What a client may attach to a conversation by address. */
export function registerResources(
  server: McpServer,
  { view, shield }: { view: View; shield: Shield },
  { chat, facts, recall }: ResourceServices,
): void {
  server.registerResource(
    "rules",
    "memory://rules",
    {
      title: "Memory rules",
      description:
        "The rules that this org set for its agents, as Markdown. Empty until some are set.",
      mimeType: "text/markdown",
    },
    shield(async (uri: URL, context) => {
      const { stableBlock: text } = await recall.stableBlock(principalOf(context));
      return { contents: [{ uri: uri.href, mimeType: "text/markdown", text }] };
    }),
  );

  const contextOptions = { recentLimit: RECENT_MESSAGES, keys: undefined };
  const contextTemplate = view.pins.userId ? "memory://context" : "memory://users/{userId}/context";
  const contextMetadata = {
    title: "What is known of a person",
    description: "Profile, key-value map and newest messages of a person, as JSON.",
    mimeType: "application/json",
  };
  if (view.pins.userId) {
    server.registerResource(
      "context",
      contextTemplate,
      contextMetadata,
      shield(async (uri: URL, context) => {
        const principal = principalOf(context);
        const pinned = principal.pins.userId ?? "";
        return json(uri, await chat.context(principal, pinned, contextOptions));
      }),
    );
  } else {
    server.registerResource(
      "context",
      new ResourceTemplate(contextTemplate, { list: undefined }),
      contextMetadata,
      shield(async (uri: URL, variables, context) => {
        const userId = decoded(String(variables.userId));
        return json(uri, await chat.context(principalOf(context), userId, contextOptions));
      }),
    );
  }

  server.registerResource(
    "fact",
    new ResourceTemplate("memory://facts/{factId}", { list: undefined }),
    {
      title: "One fact",
      description: "A remembered fact with where it came from and what happened to it, as JSON.",
      mimeType: "application/json",
    },
    shield(async (uri: URL, variables, context) =>
      json(uri, await facts.find(principalOf(context), String(variables.factId))),
    ),
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw malformed(error);
  }
}

function malformed(cause: unknown): AppError {
  return new AppError("INVALID_INPUT", "the address has a % that encodes nothing", { cause });
}

function json(uri: URL, value: unknown) {
  return {
    contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify(value) }],
  };
}
