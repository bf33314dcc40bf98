import { once } from "node:events";
import { createWriteStream } from "node:fs";

const WORDS =
  "coffee tea delivery size blue red jacket order refund Lyon Paris Monday morning shoes question thanks please tomorrow price stock".split(
    " ",
  );
const CHATS = 50;
/** 2020-09-13; each chat's messages are two hours apart. */
const START = 1_600_000_000;
const OWNER = 1_000;

/** Said by nobody but the last message of the file. */
export const LAST_WORD = "quetzalcoatl";
/** Who says it. */
export const LAST_PERSON = 2_000 + CHATS - 1;

/** Writes a full Telegram export with this many messages in 50 private chats, the same at every run. */
export async function writeExport(path: string, messages: number): Promise<void> {
  const file = createWriteStream(path);
  const write = async (text: string) => {
    if (!file.write(text)) await once(file, "drain");
  };
  await write(
    `{"about":"","personal_information":{"user_id":${OWNER}},"chats":{"about":"","list":[`,
  );
  const each = messages / CHATS;
  for (let chat = 0; chat < CHATS; chat++) {
    const person = 2_000 + chat;
    await write(
      `${chat ? "," : ""}{"name":"Person ${chat}","type":"personal_chat","id":${person},"messages":[`,
    );
    for (let at = 0; at < each; at++) {
      const isLast = chat === CHATS - 1 && at === each - 1;
      const words = Array.from({ length: 4 + (at % 20) }, (_, n) => word(at + chat * 13, n));
      const text = `${words.join(" ")} 😀 ${isLast ? LAST_WORD : at}`;
      const message = {
        id: chat * each + at + 1,
        type: "message",
        date: "2020-09-13T12:26:40",
        date_unixtime: `${START + at * 7_200 + chat * 60}`,
        from: at % 2 ? "Owner" : `Person ${chat}`,
        from_id: `user${at % 2 ? OWNER : person}`,
        text,
        text_entities: [{ type: "plain", text }],
      };
      await write(`${at ? ",\n" : "\n"}${JSON.stringify(message)}`);
    }
    await write("]}");
  }
  file.end("]}}");
  await once(file, "finish");
}

function word(seed: number, at: number): string {
  return WORDS[(seed * 7_919 + at * 104_729) % WORDS.length] ?? "";
}
