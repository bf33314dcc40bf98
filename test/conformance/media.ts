/** One red pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** A WAVE header with no samples: 8 kHz, mono, 16 bit. */
const WAV = wav().toString("base64");

function wav(): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(16_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  return header;
}

export function textOf(text: string) {
  return { type: "text" as const, text };
}
export const picture = { type: "image" as const, data: PNG, mimeType: "image/png" };
export const sound = { type: "audio" as const, data: WAV, mimeType: "audio/wav" };

export function embedded(uri: string, text: string, mimeType = "text/plain") {
  return { type: "resource" as const, resource: { uri, mimeType, text } };
}
