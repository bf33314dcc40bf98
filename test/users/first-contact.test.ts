import { afterAll, beforeAll, expect, test } from "vitest";
import { channelIdentities, users as usersTable } from "../../src/db/schema/users.ts";
import { ContextRepository } from "../../src/users/context.ts";
import { UserRepository } from "../../src/users/repository.ts";
import { UserService } from "../../src/users/service.ts";
import { openDatabase, type TestDatabase } from "../db/open-database.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  const users = new UserService(
    new UserRepository(),
    new ContextRepository(),
    "telegram",
    clock.now,
  );
  let db: TestDatabase;
  beforeAll(async () => {
    db = await openDatabase(engine);
  });
  afterAll(() => db.close());

  const findOrCreate = (org: { orgId: string }, userId: string) =>
    db.transactions.tenant(org, (tx) => users.findOrCreate(org, userId, tx));
  const find = (org: { orgId: string }, userId: string) =>
    db.transactions.tenant(org, (tx) => users.find(org, userId, tx));
  const peopleOf = (org: { orgId: string }) =>
    db.transactions.tenant(org, async (tx) => ({
      users: await tx.select().from(usersTable),
      identities: await tx.select().from(channelIdentities),
    }));

  test("20 first contacts of one external id at once make one person with one identity", async () => {
    const org = await db.newOrg();
    const found = await Promise.all(
      Array.from({ length: 20 }, (_, i) => findOrCreate(org, i % 2 ? "77" : "telegram:77")),
    );
    expect(new Set(found.map(({ userId, identityId }) => `${userId} ${identityId}`)).size).toBe(1);
    const people = await peopleOf(org);
    expect(people.users).toHaveLength(1);
    expect(people.identities).toHaveLength(1);
    expect(people.users[0]).toMatchObject({ status: "approved", role: "customer" });
  });

  test("20 different ids at once make 20 people, also the ones that look alike", async () => {
    const org = await db.newOrg();
    const ids = Array.from({ length: 10 }, (_, i) => [`telegram:${i}`, `web:${i}`]).flat();
    await Promise.all(ids.map((id) => findOrCreate(org, id)));
    expect((await peopleOf(org)).users).toHaveLength(20);
  });

  test("one external id in two orgs is two people, also when both meet it at once", async () => {
    const orgs = [await db.newOrg(), await db.newOrg()];
    const found = await Promise.all(
      Array.from({ length: 20 }, (_, i) => findOrCreate(orgs[i % 2] as { orgId: string }, "5")),
    );
    expect(new Set(found.map(({ userId }) => userId)).size).toBe(2);
    for (const org of orgs) expect((await peopleOf(org)).users).toHaveLength(1);
  });

  test("a contact whose transaction fails leaves nobody, and the next one makes them", async () => {
    const org = await db.newOrg();
    const failed = db.transactions.tenant(org, async (tx) => {
      await users.findOrCreate(org, "9", tx);
      throw new Error("undone");
    });
    await expect(failed).rejects.toThrow("undone");
    await expect(find(org, "9")).rejects.toMatchObject({ code: "NOT_FOUND" });
    const person = await findOrCreate(org, "9");
    expect(await find(org, "9")).toEqual(person);
  });

  test("a person is found by the internal id and by each channel, and by nobody else's", async () => {
    const [org, other] = [await db.newOrg(), await db.newOrg()];
    const person = await findOrCreate(org, "web:a:b");
    for (const id of ["web:a:b", person.userId, person.userId.toUpperCase()]) {
      expect((await find(org, id)).userId).toBe(person.userId);
    }
    for (const id of ["web:a", "a:b", "telegram:a:b", "web:A:b", "web:a_b", "web:%", "web:a:"]) {
      await expect(find(org, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
    for (const id of ["web:a:b", person.userId]) {
      await expect(find(other, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
  });

  test("an unknown internal id is nobody on a write too, and is not made", async () => {
    const org = await db.newOrg();
    const unknown = "01900000-0000-7000-8000-000000000000";
    await expect(findOrCreate(org, unknown)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await peopleOf(org)).users).toEqual([]);
  });

  test("a person of one channel is meant with it; one of several is meant with none in particular", async () => {
    const org = await db.newOrg();
    const person = await findOrCreate(org, "1");
    expect(await find(org, person.userId)).toEqual(person);
    await db.transactions.tenant(org, (tx) =>
      tx.insert(channelIdentities).values({
        ...org,
        userId: person.userId,
        channel: "web",
        externalId: "1",
        createdAt: clock.now(),
      }),
    );
    expect(await find(org, person.userId)).toEqual({ userId: person.userId, identityId: null });
    expect((await find(org, "web:1")).identityId).not.toBe(person.identityId);
  });

  test("a name that a channel tells is kept, and said again it writes nothing", async () => {
    const org = await db.newOrg();
    const ref = { channel: "telegram", externalId: "42" };
    const meet = (username?: string) =>
      db.transactions.tenant(org, (tx) =>
        users.ensure(org, ref, { status: "pending", ...(username && { username }) }, tx),
      );
    await meet("ana");
    const before = await peopleOf(org);
    expect(before.users[0]).toMatchObject({ username: "ana", status: "pending", approvedAt: null });
    await meet("ana");
    await meet();
    expect(await peopleOf(org)).toEqual(before);
    await meet("ana_maria");
    expect((await peopleOf(org)).users[0]).toMatchObject({ username: "ana_maria" });
  });
});
