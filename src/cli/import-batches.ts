const MAX_ITEMS = 500;
/** A quarter of what the server takes, so that long messages neither fill its memory nor hold its archive up. */
const MAX_BYTES = 1024 * 1024;

/** Gathers items into requests of a size that the server takes. */
export class Batches<T> {
  readonly #send: (items: readonly T[]) => Promise<void>;
  #items: T[] = [];
  #bytes = 0;

  constructor(send: (items: readonly T[]) => Promise<void>) {
    this.#send = send;
  }

  async add(item: T): Promise<void> {
    const bytes = Buffer.byteLength(JSON.stringify(item));
    if (this.#items.length >= MAX_ITEMS || this.#bytes + bytes > MAX_BYTES) await this.flush();
    this.#items.push(item);
    this.#bytes += bytes;
  }

  async flush(): Promise<void> {
    const items = this.#items;
    this.#items = [];
    this.#bytes = 0;
    if (items.length > 0) await this.#send(items);
  }
}
