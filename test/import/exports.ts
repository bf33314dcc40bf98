/** 2026-03-01T10:00:00Z, as exports write it. */
export const EXPORT_SECOND = 1772359200;

/** A message as Telegram Desktop exports it. */
export function exported(id: number, from: number | null, text: unknown, over: object = {}) {
  return {
    id,
    type: "message",
    date: "2026-03-01T11:00:00",
    date_unixtime: `${EXPORT_SECOND + id * 60}`,
    from: from === null ? null : `Person ${from}`,
    from_id: `user${from ?? 404}`,
    text,
    text_entities: [{ type: "plain", text: "the same words again" }],
    ...over,
  };
}

export function chat(type: string, id: number, messages: readonly unknown[], name = "Ana") {
  return { name, type, id, messages };
}

/** A whole account's export, with the sections around the chats. */
export function account(owner: number, chats: readonly object[], left: readonly object[] = []) {
  return {
    about: "Here is the data you requested.",
    personal_information: { user_id: owner, first_name: "Owner", phone_number: "+0" },
    profile_pictures: [],
    contacts: { about: "", list: [{ user_id: 5, first_name: "Ana", phone_number: "+0" }] },
    frequent_contacts: { list: [{ id: 5, category: "people", type: "user", rating: 1.5 }] },
    sessions: { about: "", list: [{ last_ip: "127.0.0.1", messages: ["no message"] }] },
    chats: { about: "", list: chats },
    left_chats: { about: "", list: left },
  };
}

/** Chunks of a few bytes, so that every word and character is cut somewhere. */
export async function* inPieces(text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What a generator gives until it ends or fails. */
export async function collect<T>(items: AsyncIterable<T>): Promise<{ read: T[]; fault?: unknown }> {
  const read: T[] = [];
  try {
    for await (const item of items) read.push(item);
    return { read };
  } catch (fault) {
    return { read, fault };
  }
}
