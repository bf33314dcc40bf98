import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { textOf } from "./media.ts";
import type { FixtureTool } from "./tools.ts";

const states = createRequestStateCodec<{ readonly round: number; readonly name?: string }>({
  key: crypto.getRandomValues(new Uint8Array(32)),
});

function ask(field: string, type: "string" | "boolean" = "string") {
  const schema = type === "string" ? { type: "string" as const } : { type: "boolean" as const };
  return inputRequired.elicit({
    message: `Please give ${field}.`,
    requestedSchema: { type: "object", properties: { [field]: schema }, required: [field] },
  });
}

const sample = inputRequired.createMessage({
  messages: [{ role: "user", content: textOf("Which city is the capital of France?") }],
  maxTokens: 50,
});

async function stateOf(sent: unknown) {
  if (typeof sent !== "string") return undefined;
  const state = await states.verify(sent, undefined as never).catch(() => undefined);
  if (state === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "requestState was not issued here");
  }
  return state;
}

/** Tools that ask the client back, in the way of revision 2026-07-28: by an answer, not by a request. */
export const inputTools: Readonly<Record<string, FixtureTool>> = {
  async test_input_required_result_elicitation({ mcpReq }) {
    const name = acceptedContent<{ name: unknown }>(mcpReq.inputResponses, "user_name")?.name;
    return typeof name === "string"
      ? { content: [textOf(`Hello, ${name}.`)] }
      : inputRequired({ inputRequests: { user_name: ask("name") } });
  },
  async test_input_required_result_sampling({ mcpReq }) {
    const answer = mcpReq.inputResponses?.capital_question;
    return answer === undefined
      ? inputRequired({ inputRequests: { capital_question: sample } })
      : { content: [textOf(`The model said ${JSON.stringify(answer)}`)] };
  },
  async test_input_required_result_list_roots({ mcpReq }) {
    const answer = mcpReq.inputResponses?.client_roots;
    return answer === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : { content: [textOf(`The client has ${JSON.stringify(answer)}`)] };
  },
  async test_input_required_result_request_state({ mcpReq }) {
    const state = await stateOf(mcpReq.requestState());
    return state !== undefined && acceptedContent(mcpReq.inputResponses, "confirm") !== undefined
      ? { content: [textOf("state-ok")] }
      : inputRequired({
          inputRequests: { confirm: ask("ok", "boolean") },
          requestState: await states.mint({ round: 1 }),
        });
  },
  async test_input_required_result_tampered_state({ mcpReq }) {
    const state = await stateOf(mcpReq.requestState());
    return state !== undefined
      ? { content: [textOf("state-ok")] }
      : inputRequired({
          inputRequests: { confirm: ask("ok", "boolean") },
          requestState: await states.mint({ round: 1 }),
        });
  },
  async test_input_required_result_multiple_inputs({ mcpReq }) {
    const given = mcpReq.inputResponses ?? {};
    const complete = ["user_name", "greeting", "client_roots"].every((key) => key in given);
    return complete
      ? { content: [textOf("All three were given.")] }
      : inputRequired({
          inputRequests: {
            user_name: ask("name"),
            greeting: sample,
            client_roots: inputRequired.listRoots(),
          },
          requestState: await states.mint({ round: 1 }),
        });
  },
  async test_input_required_result_multi_round({ mcpReq }) {
    const { round = 0, name = "" } = (await stateOf(mcpReq.requestState())) ?? {};
    if (round === 0) {
      return inputRequired({
        inputRequests: { step1: ask("name") },
        requestState: await states.mint({ round: 1 }),
      });
    }
    if (round === 1) {
      const given = acceptedContent<{ name: string }>(mcpReq.inputResponses, "step1")?.name ?? "";
      return inputRequired({
        inputRequests: { step2: ask("color") },
        requestState: await states.mint({ round: 2, name: given }),
      });
    }
    const color = acceptedContent<{ color: string }>(mcpReq.inputResponses, "step2")?.color;
    return { content: [textOf(`${name} likes ${color ?? "nothing"}.`)] };
  },
  async test_input_required_result_capabilities({ mcpReq }) {
    if (mcpReq.inputResponses !== undefined) return { content: [textOf("Given.")] };
    const envelope = mcpReq.envelope as
      | { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities }
      | undefined;
    const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY];
    const inputRequests: InputRequests = {
      ...(declared?.elicitation !== undefined && { user_name: ask("name") }),
      ...(declared?.sampling !== undefined && { greeting: sample }),
      ...(declared?.roots !== undefined && { client_roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length > 0
      ? inputRequired({ inputRequests })
      : { content: [textOf("The client can be asked nothing.")] };
  },
  async test_missing_capability({ mcpReq }) {
    return mcpReq.inputResponses?.answer === undefined
      ? inputRequired({ inputRequests: { answer: sample } })
      : { content: [textOf("Answered.")] };
  },
};
