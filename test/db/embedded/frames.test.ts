import fc from "fast-check";
import { expect, test } from "vitest";
import {
  FrameReader,
  isCancelRequest,
  parseFrame,
  queryFrame,
  statementOf,
} from "../../../src/db/embedded/frames.ts";

const startup = Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0]);

test("messages come out whole and in order wherever the stream is cut", () => {
  const texts = fc.array(fc.string({ maxLength: 300 }).map((text) => text.replaceAll("\0", "")));
  fc.assert(
    fc.property(texts, fc.array(fc.nat({ max: 400 }), { minLength: 1 }), (sqls, cuts) => {
      const messages = [startup, ...sqls.map((sql) => queryFrame(sql))];
      const stream = Buffer.concat(messages);
      const reader = new FrameReader();
      const seen: Buffer[] = [];
      for (let at = 0, cut = 0; at < stream.length; cut += 1) {
        const size = 1 + (cuts[cut % cuts.length] ?? 0);
        seen.push(...reader.read(stream.subarray(at, at + size)).map(({ bytes }) => bytes));
        at += size;
      }
      expect(seen.map((bytes) => bytes.toString("latin1"))).toEqual(
        messages.map((bytes) => bytes.toString("latin1")),
      );
    }),
  );
});

test("the statement of a query and of a prepared one is read, and its name", () => {
  expect(statementOf({ type: "Q", bytes: queryFrame("select 'é'") })).toEqual({
    name: "",
    sql: "select 'é'",
  });
  expect(statementOf({ type: "P", bytes: parseFrame("s1", "commit") })).toEqual({
    name: "s1",
    sql: "commit",
  });
});

test("only a cancel request is taken for one", () => {
  const cancel = Buffer.alloc(16);
  cancel.writeUInt32BE(16, 0);
  cancel.writeUInt32BE(80_877_102, 4);
  expect(new FrameReader().read(cancel).map(isCancelRequest)).toEqual([true]);
  expect(new FrameReader().read(startup).map(isCancelRequest)).toEqual([false]);
});
