import { z } from "zod";

/** JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export interface JsonSchema extends z.core.JSONSchema.BaseSchema {}

/** Schemas that have a name of their own, for the `components` of a document. */
export type NamedSchemas = Record<string, JsonSchema>;

const COMPONENT = "#/components/schemas/";

/**
 * What a Zod schema takes (`input`) or is (`output`). Parts with an id go to `named` and are referred to.
 */
export function jsonSchemaOf(
  schema: z.ZodType,
  io: "input" | "output",
  named: NamedSchemas,
): JsonSchema {
  const {
    $schema: _,
    $defs,
    ...json
  } = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
    override: ({ jsonSchema }) => trim(jsonSchema),
  }) as JsonSchema;
  for (const [name, definition] of Object.entries($defs ?? {})) named[name] = referring(definition);
  return referring(json);
}

/** What repeats something else, or says what every JavaScript number is. */
function trim(schema: JsonSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined) delete schema.pattern;
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
}

function referring(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key === "id" && typeof value === "string") return undefined;
    return key === "$ref" && typeof value === "string"
      ? value.replace(/^#\/\$defs\//, COMPONENT)
      : value;
  }) as JsonSchema;
}
