import { expect, test, vi } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";
import { ForwardingUnderTest, SECOND } from "./forwarding-under-test.ts";

onBothDatabases((engine) => {
  const s = new ForwardingUnderTest(engine);

  test("a receiver that never answers holds up its own org, and no other one", async () => {
    await s.app.v1("POST", "/v1/orgs", { slug: "other" });
    const account = { channel: "telegram", account: "theirs", secretVariable: "IN" };
    // Refused as it is sent: that it was tried is all that counts here.
    const forward = { forwardUrl: "http://10.0.0.1", forwardSecretVariable: "OUT" };
    await s.app.v1("POST", "/v1/channels", { ...account, ...forward, autoApprove: true }, "other");
    const hung = Promise.withResolvers<void>();
    s.runtime.answer = () => hung.promise;
    // More than all runs of one process deliver at a time.
    const people = Array.from({ length: 70 }, (_, n) => 800_000 + n);
    for (const person of people) await s.write(person, 1);
    s.clock.advance(SECOND);
    await s.app.telegram(privateMessage(s.one, { message_id: 1, text: "hello" }), "theirs");
    const run = s.forward();
    try {
      await vi.waitFor(
        async () => {
          const { body } = await s.app.v1(
            "GET",
            "/v1/deliveries?state=pending",
            undefined,
            "other",
          );
          expect(body.deliveries).toMatchObject([
            { lastError: expect.stringContaining("refused") },
          ]);
        },
        { timeout: 10_000 },
      );
    } finally {
      hung.resolve();
      await run;
    }
  });
});
