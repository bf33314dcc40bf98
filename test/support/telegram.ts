let nextUpdateId = 1;

interface MessageFields {
  readonly message_id: number;
  readonly text?: string;
  /** Unix seconds. */
  readonly date?: number;
  readonly [field: string]: unknown;
}

/** Makes a server offer the tools that send; nothing listens there. */
export const CAN_SEND = {
  TELEGRAM_BOT_TOKEN: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
  TELEGRAM_API_ROOT: "http://127.0.0.1:9",
};

/** 2026-03-01T10:00:00Z */
export const TELEGRAM_DATE = 1772359200;

/** A private text message from a person, as Telegram posts it. */
export function privateMessage(from: number, fields: MessageFields, updateId = nextUpdateId++) {
  return { update_id: updateId, message: messageOf(from, fields) };
}

export function editedMessage(from: number, fields: MessageFields, updateId = nextUpdateId++) {
  return { update_id: updateId, edited_message: messageOf(from, fields) };
}

function messageOf(from: number, fields: MessageFields) {
  return {
    date: TELEGRAM_DATE,
    chat: { id: from, type: "private", first_name: "Ana" },
    from: { id: from, is_bot: false, first_name: "Ana", username: `ana${from}` },
    ...fields,
  };
}
