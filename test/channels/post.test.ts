import { createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { post } from "../../src/channels/post.ts";

/** A receiver that answers every request with these bytes. */
async function receiver(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

const postTo = (url: string) =>
  post({ url, headers: {}, body: "{}", mayBePrivate: true, signal: new AbortController().signal });

test("a receiver that wants another protocol than HTTP does not keep the delivery for ever", async () => {
  const url = await receiver((socket) => {
    socket.write("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  });
  expect(await postTo(url)).toEqual({ fault: "no connection" });
});

test.each([
  ["no HTTP", "hello\r\n\r\n"],
  ["a status line and no more", "HTTP/1.1 200 OK\r\n"],
  ["nothing", ""],
])("a receiver that answers with %s and hangs up has not taken it", async (_, answer) => {
  const url = await receiver((socket) => socket.end(answer));
  expect(await postTo(url)).toHaveProperty("fault");
});
