/** Ids or numbers as PostgreSQL spells an array: one parameter, however many there are. */
export function sqlArray(values: readonly (string | number)[]): string {
  return `{${values.join(",")}}`;
}
