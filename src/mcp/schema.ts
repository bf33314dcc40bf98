import type { JSONValue, ListToolsResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Pins } from "../access/principal.ts";
import type { PinShape, Tool } from "./tool.ts";

/** JSON Schema of an object, as MCP wants it for arguments and structured results. */
export type JsonSchema = ListedTool["inputSchema"] & {
  readonly properties: { readonly [name: string]: JSONValue };
};
type ListedTool = ListToolsResult["tools"][number];

/** A tool's input for one pin shape: what callers see, and what checks arguments with the pinned values in. */
export interface InputSchema {
  readonly published: JsonSchema;
  readonly full: z.ZodObject;
  /** The pinned parameters that this tool declares. */
  readonly pinned: readonly (keyof Pins)[];
  /** Parameters whose text is taken whatever it holds. */
  readonly archived: readonly string[];
}

export function inputSchemaOf(tool: Tool, pins: PinShape): InputSchema {
  const full = typeof tool.input === "function" ? tool.input(pins) : tool.input;
  const pinned = (["userId", "storeId", "agentId"] as const).filter(
    (name) => pins[name] && name in full.shape,
  );
  const shape = Object.entries(full.shape).filter(([name]) => !pinned.some((pin) => pin === name));
  const visible = z.strictObject(Object.fromEntries(shape));
  return { published: publish(visible, "input"), full, pinned, archived: tool.archived ?? [] };
}

export function outputSchemaOf(tool: Tool): JsonSchema {
  return publish(tool.output, "output");
}

function publish(schema: z.ZodObject, io: "input" | "output"): JsonSchema {
  // 2020-12 is what a client assumes where nothing is said.
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    override: ({ jsonSchema }) => trim(jsonSchema, io),
  });
  return json as unknown as JsonSchema;
}

/**
 * Every connecting model pays for these bytes. Goes what repeats something else (the range of an integer) or what nobody
 * reads (string keys of a record, the closedness of an object: what is unknown is refused by name).
 */
function trim(schema: z.core.JSONSchema.BaseSchema, io: "input" | "output"): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minLength === 1) delete schema.minLength;
  // What is too long, too many or of another form is refused with the rule; nobody writes towards a maximum.
  delete schema.maxLength;
  delete schema.maxItems;
  if (schema.minItems === 1) delete schema.minItems;
  delete schema.pattern;
  if (isStringOnly(schema.propertyNames)) delete schema.propertyNames;
  delete schema.additionalProperties;
  const { properties } = schema;
  if (io === "output" && properties && Object.keys(properties).length === 0)
    delete schema.properties;
}

function isStringOnly(names: unknown): boolean {
  return JSON.stringify(names) === '{"type":"string"}';
}
