import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OpenApi } from "../../../src/http/v1/reference/openapi.ts";
import { openApiOf, operationsOf } from "../../isolation/operations.ts";
import { OWNER_KEY, openApp, type TestApp } from "../../support/app.ts";
import schema from "./openapi-3.1.schema.json" with { type: "json" };
import { OPERATIONS } from "./operations.ts";

let app: TestApp;
let api: OpenApi;
beforeAll(async () => {
  app = await openApp("embedded");
  api = await openApiOf(app);
});
afterAll(() => app.dispose());

test("the description is OpenAPI 3.1, and every schema in it is JSON Schema", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  expect(ajv.validate(schema, api), ajv.errorsText()).toBe(true);
  ajv.addSchema({ $id: "api", components: api.components });
  const found: string[] = [];
  JSON.stringify(api, (key, value) => {
    if (key === "schema") {
      const text = JSON.stringify(value).replaceAll('"#/components', '"api#/components');
      ajv.compile(JSON.parse(text));
      found.push(text);
    }
    return value;
  });
  expect(found.length).toBeGreaterThan(100);
});

test("paths and operations stay what programs were made for", async () => {
  const operations = await operationsOf(app);
  expect(
    operations.map(({ method, url, operationId }) => `${operationId}: ${method} ${url}`).sort(),
  ).toEqual(OPERATIONS);
});

test("operations have names of their own, and every route says what it does and who may call it", async () => {
  const operations = await operationsOf(app);
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { operationId, summary, tags, parameters = [], url } of operations) {
    expect([operationId, summary]).toEqual([operationId, expect.stringMatching(/^[A-Z]/)]);
    expect(api.tags.map(({ name }) => name)).toContain(tags[0]);
    const inPath = parameters.filter((one) => one.in === "path").map(({ name }) => `:${name}`);
    expect([url, inPath]).toEqual([url, url.match(/:\w+/g) ?? []]);
  }
});

test("every body has an example, which its schema takes", async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "api", components: api.components });
  for (const { operationId, requestBody } of await operationsOf(app)) {
    const media = requestBody?.content["application/json"];
    if (!media) continue;
    expect([operationId, media.example]).toEqual([operationId, expect.anything()]);
    expect([operationId, ajv.validate(media.schema, media.example)]).toEqual([operationId, true]);
  }
});

test("every route that takes a key refuses a parameter that it does not know, by name", async () => {
  const headers = { authorization: `Bearer ${OWNER_KEY}` };
  for (const { operationId, method, url, "x-caller": caller } of await operationsOf(app)) {
    if (["operator", "signer"].includes(caller) || operationId === "postMessages") continue;
    const address = `${url.replace(/:\w+/g, "telegram:1")}?nobody=asked`;
    const answer = await app.http.inject({ method, url: address, headers });
    expect([operationId, answer.statusCode, answer.body]).toEqual([
      operationId,
      400,
      expect.stringContaining('\\"nobody\\"'),
    ]);
  }
});

test("docs/http-api.md lists every route, and who may call it", async () => {
  const about = await readFile(new URL("about-http-api.md", import.meta.url), "utf8");
  const text = [about.trimEnd()];
  const operations = await operationsOf(app);
  for (const { name, description } of api.tags) {
    const rows = operations
      .filter(({ tags }) => tags[0] === name)
      .map((one) => `| \`${one.method} ${one.url}\` | ${one.summary} | ${one["x-caller"]} |`);
    const table = ["| route | what it does | caller |", "| --- | --- | --- |", ...rows].join("\n");
    text.push(`## ${name}`, description, table);
  }
  await expect(`${text.join("\n\n")}\n`).toMatchFileSnapshot("../../../docs/http-api.md");
});

test("both forms of the description are for anybody, and hold no data", async () => {
  const page = await app.http.inject("/v1/docs");
  expect(page.statusCode).toBe(200);
  expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
  expect(page.body).not.toMatch(/<script|style=/);
  for (const { operationId } of await operationsOf(app))
    expect(page.body).toContain(`<article id="${operationId}">`);
  const style = /href="(\/v1\/docs\/style\.css[^"]+)"/.exec(page.body)?.[1] ?? "";
  expect((await app.http.inject(style)).headers["content-type"]).toBe("text/css; charset=utf-8");
});

test("the page is searched by the server, and what is typed there stays text", async () => {
  const found = await app.http.inject("/v1/docs?search=Pin%20settle");
  expect(found.body).toContain('<article id="decideFact">');
  expect(found.body).not.toContain('<article id="createKey">');
  const hostile = encodeURIComponent('"><img src=x onerror=alert(1)>');
  expect((await app.http.inject(`/v1/docs?search=${hostile}`)).body).not.toContain("<img");
});
