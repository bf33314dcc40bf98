import type { Fault } from "./json-scan.ts";

/** One sentence that names the place and says what to send instead. */
export function describeFault(fault: Fault): string {
  const place = pathText(fault.path);
  switch (fault.kind) {
    case "number":
      return `${place}: the number ${fault.literal ?? ""} cannot be held exactly; send it as a string.`;
    case "duplicate":
      return `${place}: this key appears twice in one object; send it once.`;
    case "order":
      return `${place}: the order of a number-like key after other keys cannot be kept; send such keys first and ascending, or name them otherwise.`;
    case "text":
      return `${place}: U+0000 or half of a surrogate pair cannot be stored; send whole characters without U+0000.`;
    case "depth":
      return `${place}: nested too deeply; send at most 200 levels.`;
  }
}

/** `entries[0].value.id`; long paths are clipped, since a path may be as deep as the nesting limit. */
export function pathText(path: readonly PropertyKey[]): string {
  const shown = path.slice(0, 8);
  let text = "";
  for (const part of shown) {
    if (typeof part === "number") text += `[${part}]`;
    else {
      const key = String(part).toWellFormed().replaceAll("\u0000", "\\u0000");
      const name = key.length <= 60 ? key : `${key.slice(0, 60)}…`;
      text += text === "" ? name : `.${name}`;
    }
  }
  return (text === "" ? "(root)" : text) + (path.length > shown.length ? "…" : "");
}
