import { html } from "htm/preact";
import type { VNode } from "preact";
import type { JsonSchema } from "./json-schema.ts";

const NAMED = "#/components/schemas/";

type Part = string | VNode | Part[];

/** A schema as people write types: `{ key: string, value: any }`. Named ones are links to their own place. */
export function notationOf(schema: JsonSchema, depth = 0): Part {
  const { $ref, anyOf, oneOf, enum: values, const: constant, type } = schema;
  if ($ref?.startsWith(NAMED)) {
    const name = $ref.slice(NAMED.length);
    return html`<a href=${`#schema-${name}`}>${name}</a>`;
  }
  const choices = anyOf ?? oneOf;
  if (choices)
    return between(
      choices.map((one) => notationOf(one as JsonSchema, depth)),
      " | ",
    );
  if (constant !== undefined) return JSON.stringify(constant);
  if (values) return values.map((one) => JSON.stringify(one)).join(" | ");
  if (Array.isArray(type))
    return between(
      type.map((one) => notationOf({ ...schema, type: one } as JsonSchema, depth)),
      " | ",
    );
  if (type === "array") return ["[", notationOf((schema.items ?? {}) as JsonSchema, depth), ", …]"];
  if (type === "object" || schema.properties) return objectOf(schema, depth);
  return type === undefined ? "any JSON" : [type, hintOf(schema)].join("");
}

function objectOf(
  { properties, required = [], additionalProperties }: JsonSchema,
  depth: number,
): Part {
  const names = Object.entries(properties ?? {});
  if (names.length === 0) {
    const values = typeof additionalProperties === "object" ? additionalProperties : {};
    return ["{ [name]: ", notationOf(values as JsonSchema, depth), " }"];
  }
  const inside = "  ".repeat(depth + 1);
  const lines = names.map(([name, property]) => {
    const part = property as JsonSchema;
    return [
      `${inside}${name}${required.includes(name) ? "" : "?"}: `,
      notationOf(part, depth + 1),
      part.default === undefined ? "" : ` = ${JSON.stringify(part.default)}`,
      part.description ? html`<i>  ${part.description}</i>` : "",
      "\n",
    ];
  });
  return ["{\n", lines, `${"  ".repeat(depth)}}`];
}

/** What a value of a plain type has to be, in a few signs. */
function hintOf({ format, minimum, maximum, maxLength }: JsonSchema): string {
  if (format !== undefined) return ` (${format})`;
  if (minimum !== undefined && maximum !== undefined) return ` ${minimum}–${maximum}`;
  if (minimum !== undefined) return ` ≥ ${minimum}`;
  if (maxLength !== undefined) return ` ≤ ${maxLength} characters`;
  return "";
}

function between(parts: readonly Part[], separator: string): Part {
  return parts.flatMap((part, at) => (at === 0 ? [part] : [separator, part]));
}
