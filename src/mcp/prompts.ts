import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { Recall } from "../recall/query.ts";
import type { RecallService } from "../recall/service.ts";
import { UserId } from "../users/person.ts";
import { principalOf } from "./caller.ts";
import type { Shield } from "./server.ts";
import type { View } from "./tool.ts";
import { USER_ID } from "./tools/descriptions.ts";

const Question = z.string().max(2000).optional().describe("What the conversation is about");

/** `load_memory`: puts what is remembered of a person in front of a conversation. */
export function registerPrompts(
  server: McpServer,
  { view, shield }: { view: View; shield: Shield },
  recall: RecallService,
): void {
  const metadata = {
    title: "Load memory",
    description: "Begins a conversation with what is remembered of a person.",
  };
  const load = async (
    { userId, query }: { userId?: string; query?: string | undefined },
    context: Parameters<typeof principalOf>[0],
  ) => {
    const principal = principalOf(context);
    const person = principal.pins.userId ?? userId;
    const { stableBlock, memoryBlock } = await recall.recall(
      principal,
      Recall.parse({ userId: person, query }),
    );
    const text = [stableBlock, memoryBlock].filter(Boolean).join("\n\n");
    return {
      messages: [
        {
          role: "user" as const,
          content: { type: "text" as const, text: text || "Nothing is remembered yet." },
        },
      ],
    };
  };
  if (view.pins.userId) {
    const argsSchema = z.object({ query: Question });
    server.registerPrompt("load_memory", { ...metadata, argsSchema }, shield(load));
  } else {
    const argsSchema = z.object({ userId: UserId.describe(USER_ID), query: Question });
    server.registerPrompt("load_memory", { ...metadata, argsSchema }, shield(load));
  }
}
