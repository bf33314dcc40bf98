import type { Principal } from "../src/access/principal.ts";
import { Remember } from "../src/facts/remember.ts";
import type { BenchmarkOptions } from "./benchmark.ts";
import { LARGEST, PEOPLE, personId } from "./calls.ts";
import type { DatabaseEnv } from "./databases.ts";
import { seedMessages, seedOwner, seedPerson, settle } from "./seed.ts";
import { openServices, type Services } from "./services.ts";
import { count } from "./table.ts";

const KEYS = 20;
const FACTS = 20;
const MESSAGES = 200;

const TOPICS = ["oat milk", "late delivery", "gift wrapping", "window seat", "decaf coffee"];

/**
 * Fills a database with ordinary people and one whose archive is very large, then closes it.
 *
 * @returns a member's API key
 */
export async function populate(
  env: DatabaseEnv,
  largest: number,
  options: BenchmarkOptions,
): Promise<string> {
  const services = await openServices(env);
  try {
    const owner = await seedOwner(services);
    options.say(`  ${PEOPLE} people with ${KEYS} keys, ${FACTS} facts, ${MESSAGES} messages each`);
    for (let n = 0; n < PEOPLE; n++) {
      await seedMemory(services, owner, personId(n));
      const person = await seedPerson(services, owner, personId(n));
      await seedMessages(services, owner, person, MESSAGES, options);
      options.signal.throwIfAborted();
    }
    options.say(`  one person with ${count(largest)} messages`);
    const person = await seedPerson(services, owner, LARGEST);
    await seedMessages(services, owner, person, largest, options);
    await settle(services);
    const { key } = await services.keys.create(owner, { name: "bench", role: "member" });
    return key;
  } finally {
    await services.database.close();
  }
}

async function seedMemory({ kv, facts }: Services, owner: Principal, userId: string) {
  const entries = Array.from({ length: KEYS }, (_, i) => ({
    key: `profile.field_${i}`,
    value: { text: `what the shop keeps under field ${i}`, since: "2026-01-01", step: i },
  }));
  await kv.store(owner, userId, entries);
  for (let i = 0; i < FACTS; i++) {
    const topic = TOPICS[i % TOPICS.length];
    const fact = {
      scope: "user",
      userId,
      key: `likes.thing_${i}`,
      value: `Ana likes ${topic}, number ${i}`,
      tags: ["taste"],
    };
    await facts.remember(owner, Remember.parse(fact));
  }
}
