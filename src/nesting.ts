/** Deepest nesting of a JSON value that is kept: far beyond any use, far below what exhausts a stack. */
export const MAX_NESTING = 200;

export function isTooDeep(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isTooDeep(part, levels - 1));
}
