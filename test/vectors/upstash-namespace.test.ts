import fc from "fast-check";
import { v7 } from "uuid";
import { describe, expect, test } from "vitest";
import type { VectorScope } from "../../src/vectors/index.ts";
import { checkedNamespace, filterOf, namespaceOf } from "../../src/vectors/upstash-namespace.ts";

const scopeOf = (over: Partial<VectorScope>): VectorScope => ({
  id: 1,
  orgId: v7(),
  kind: "org",
  storeId: null,
  userId: null,
  agentId: "atlas",
  documents: 0,
  ...over,
});

describe("namespaces", () => {
  const [orgId, storeId, userId] = [v7(), v7(), v7()];
  test("each kind of scope has its own", () => {
    const of = (over: Partial<VectorScope>) => namespaceOf(scopeOf({ orgId, ...over }));
    expect(of({})).toBe(`facts:org:${orgId}`);
    expect(of({ kind: "store", storeId })).toBe(`facts:store:${storeId}`);
    expect(of({ kind: "user", userId })).toBe(`facts:user:${userId}`);
    expect(of({ kind: "message", storeId, userId })).toBe(`messages:${storeId}`);
    expect(of({ kind: "message", userId })).toBe(`messages:org-${orgId}`);
  });

  test("nothing but an id ever becomes part of a path", () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("../reset?all=", `${orgId}/../../reset?all=`, `${orgId}\n`, "", "%2e%2e"),
    );
    const kind = fc.constantFrom("org", "store", "user", "message");
    fc.assert(
      fc.property(kind, anything, anything, anything, (kind, orgId, storeId, userId) => {
        const scope = scopeOf({ kind: kind as "org", orgId, storeId, userId });
        let namespace: string;
        try {
          namespace = namespaceOf(scope);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        expect(namespace).toMatch(/^[a-z:]+[0-9a-f-]{36}$/);
      }),
    );
    for (const name of ["../reset?all=", "facts:org:../reset?all=", `facts:org:${orgId}/..`, ""]) {
      expect(() => checkedNamespace(name)).toThrow(RangeError);
    }
  });

  test("a filter names pockets or people, and nothing that could end its quotes", () => {
    const scopes = ["atlas", "maya", "maya"].map((agentId) => scopeOf({ agentId }));
    expect(filterOf(scopes, 3)).toBe("m = 3 AND a IN ('atlas', 'maya')");
    expect(filterOf([scopeOf({ kind: "message", userId })], 3)).toBe(
      `m = 3 AND u IN ('${userId}')`,
    );
    expect(() => filterOf([scopeOf({ agentId: "x' OR a != '" })], 3)).toThrow(RangeError);
    expect(() => filterOf([scopeOf({ kind: "message", userId: "x'" })], 3)).toThrow(RangeError);
  });
});
