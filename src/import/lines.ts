/** A line of a file, by its number; without a text where it is longer than was asked for. */
export interface Line {
  readonly number: number;
  readonly text: string | undefined;
}

/** The lines of a file of UTF-8, of which no more than one is held; one longer than `limit` bytes is passed over. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const add = (part: Uint8Array) => {
    length += part.length;
    if (length <= limit) parts.push(part);
    else parts = [];
  };
  const line = (): Line => {
    const text = length <= limit ? Buffer.concat(parts).toString("utf8") : undefined;
    parts = [];
    length = 0;
    return { number: number++, text };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, at));
      yield line();
      from = at + 1;
    }
    // A copy: the stream may use its buffer again.
    add(Uint8Array.from(chunk.subarray(from)));
  }
  if (length > 0) yield line();
}
