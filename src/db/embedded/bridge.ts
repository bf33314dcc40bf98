import { Duplex } from "node:stream";
import type { Engine } from "./engine.ts";
import { FrameReader, isCancelRequest } from "./frames.ts";
import { Session } from "./session.ts";

/** The one thing of a `net.Socket` that postgres.js reads besides the stream itself. */
type SocketState = "open" | "closed";
/** A stream that postgres.js takes for a connected socket. */
export type EmbeddedSocket = Duplex & { readyState: SocketState };

/**
 * A factory for postgres.js's `socket` option. PGlite has one session, so one socket at a time; a
 * second (`sql.listen`, `sql.subscribe`, `max` above 1) is refused with an error, and a cancel
 * request is ignored: a synchronous engine cannot hear it.
 */
export function socketFactory(engine: Engine): () => EmbeddedSocket {
  let isTaken = false;
  return () => {
    if (isTaken) return refusedSocket();
    isTaken = true;
    return sessionSocket(engine, () => {
      isTaken = false;
    });
  };
}

function sessionSocket(engine: Engine, onEnd: () => void): EmbeddedSocket {
  const session = new Session(engine, {
    push: (bytes) => socket.push(bytes),
    refuse: (error) => socket.destroy(error),
  });
  engine.listener = session;
  const socket: EmbeddedSocket = asSocket(
    new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, callback) {
        session.receive(chunk);
        // At once: holding it back would hold the same bytes in this stream instead of the worker's
        // queue. Callers await their answers, and postgres.js pipelines 100 queries at most.
        callback();
      },
      final(callback) {
        callback();
        socket.destroy();
      },
      destroy(error, callback) {
        socket.readyState = "closed";
        session.end();
        onEnd();
        callback(error);
      },
    }),
  );
  return socket;
}

function refusedSocket(): EmbeddedSocket {
  const reader = new FrameReader();
  const socket: EmbeddedSocket = asSocket(
    new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, callback) {
        callback();
        const [first] = reader.read(chunk);
        if (first === undefined) return;
        // postgres.js leaves a failed cancel as an unhandled rejection, which would end the process.
        socket.destroy(
          isCancelRequest(first)
            ? undefined
            : new Error("the embedded database has one connection, and it is in use"),
        );
      },
    }),
  );
  return socket;
}

function asSocket(stream: Duplex): EmbeddedSocket {
  return Object.assign(stream, { readyState: "open" as const });
}
