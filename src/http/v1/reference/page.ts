import { html } from "htm/preact";
import { renderToString } from "preact-render-to-string";
import type { RouteCaller } from "../route.ts";
import { curlOf, type Entry, entriesOf } from "./example.ts";
import { notationOf } from "./notation.ts";
import type { OpenApi, Operation as OpenApiOperation, Parameter } from "./openapi.ts";
import { STYLE_ADDRESS } from "./style.ts";

const CALLERS: Readonly<Record<RouteCaller, string>> = {
  anybody: "no key needed",
  member: "any key",
  admin: "admin key",
  owner: "owner key",
  operator: "the server's command line",
  signer: "signed body",
};

/** The reference as a page that needs neither script nor network; `search` narrows it. */
export function referencePage(api: OpenApi, version: string, search: string): string {
  const entries = entriesOf(api, search);
  const sections = api.tags
    .map((tag) => ({
      ...tag,
      entries: entries.filter((one) => one.operation.tags[0] === tag.name),
    }))
    .filter((section) => section.entries.length > 0);
  const page = html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>HTTP API · Souvenir</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href=${STYLE_ADDRESS} />
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <nav aria-label="Contents">
          <a class="brand" href="/v1/docs">Souvenir</a>
          <p class="faint">HTTP API ${version}</p>
          <${Search} search=${search} />
          ${sections.map(
            (section) => html`
              <details open=${search !== ""}>
                <summary><a href=${`#${section.name}`}>${section.name}</a></summary>
                <ul>
                  ${section.entries.map(
                    ({ operation }: Entry) =>
                      html`<li><a href=${`#${operation.operationId}`}>${operation.summary}</a></li>`,
                  )}
                </ul>
              </details>
            `,
          )}
        </nav>
        <main id="main">
          <${Introduction} found=${entries.length} search=${search} />
          ${sections.map(
            (section) => html`
              <section aria-labelledby=${section.name}>
                <h2 id=${section.name}>${section.name}</h2>
                <p class="faint">${section.description}</p>
                ${section.entries.map((entry: Entry) => html`<${Operation} ...${entry} />`)}
              </section>
            `,
          )}
          <${Schemas} api=${api} />
        </main>
      </body>
    </html>
  `;
  return `<!doctype html>${renderToString(page)}`;
}

function Search({ search }: { readonly search: string }) {
  return html`
    <form role="search" method="get" action="/v1/docs">
      <label for="search">Search</label>
      <input id="search" type="search" name="search" value=${search} maxlength="100" />
      <button>Find</button>
    </form>
  `;
}

function Introduction({ found, search }: { readonly found: number; readonly search: string }) {
  return html`
    <header>
      <h1>HTTP API</h1>
      ${
        search
          ? html`<p role="status">${found} of the routes match “${search}”. <a href="/v1/docs">Show all</a></p>`
          : html`<p>
              Everything that an agent does by tools and a person on the memory page. Send an API key as${" "}
              <code>Authorization: Bearer …</code>. Bodies and answers are JSON; numbers that JavaScript cannot hold exactly
              are refused by name. Lists come in pages: give <code>nextBefore</code> of one as <code>before</code> of the next.
            </p>
            <p>
              Faults are problem details (<code>application/problem+json</code>) with a <code>code</code>, a${" "}
              <code>detail</code> and often a <code>hint</code>. A foreign id answers exactly as an unknown one. What a key is
              bound to is supplied by the server. The same description for programs:${" "}
              <a href="/v1/openapi.json">openapi.json</a>.
            </p>`
      }
    </header>
  `;
}

function Operation({ path, method, operation }: Entry) {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content["application/json"]?.schema;
  return html`
    <article id=${operationId}>
      <h3><a href=${`#${operationId}`}>${summary}</a></h3>
      <p class="route">
        <b class=${method}>${method.toUpperCase()}</b> <code>${path}</code>
        <span class="caller">${CALLERS[operation["x-caller"]]}</span>
      </p>
      ${description && html`<p>${prose(description)}</p>`}
      ${parameters.length > 0 && html`<${Parameters} parameters=${parameters} />`}
      ${body && html`<h4>Body</h4><pre tabindex="0">${notationOf(body)}</pre>`}
      <h4>Answers</h4>
      ${Object.entries(responses).map(([status, answer]) => {
        if ("$ref" in answer) return "";
        const [media, content] = Object.entries(answer.content ?? {})[0] ?? [];
        const named = media === undefined || media === "application/json" ? "" : ` · ${media}`;
        return html`
          <p>${status} ${answer.description}${named}</p>
          ${content && html`<pre tabindex="0">${notationOf(content.schema)}</pre>`}
        `;
      })}
      <p class="faint">${faultsOf(responses)}</p>
      <details>
        <summary>Example</summary>
        <pre tabindex="0">${curlOf(path, method, operation)}</pre>
      </details>
    </article>
  `;
}

/** In a line: they mean the same everywhere. */
function faultsOf(responses: OpenApiOperation["responses"]): string {
  return Object.entries(responses)
    .flatMap(([status, one]) => ("$ref" in one ? [`${status} ${one.$ref.split("/").at(-1)}`] : []))
    .join(" · ");
}

function Parameters({ parameters }: { readonly parameters: readonly Parameter[] }) {
  return html`
    <h4>Parameters</h4>
    <dl>
      ${parameters.map(
        ({ name, in: place, required, schema, description }) => html`
          <dt><code>${name}</code></dt>
          <dd>
            ${place}${required ? "" : ", optional"}: <code>${notationOf(schema)}</code>
            ${schema.default !== undefined && html` = <code>${JSON.stringify(schema.default)}</code>`}
            ${description && html`<br />${description}`}
          </dd>
        `,
      )}
    </dl>
  `;
}

function Schemas({ api }: { readonly api: OpenApi }) {
  return html`
    <section aria-labelledby="schemas">
      <h2 id="schemas">Schemas</h2>
      ${Object.entries(api.components.schemas).map(
        ([name, schema]) => html`
          <article id=${`schema-${name}`}>
            <h3>${name}</h3>
            ${schema.description && html`<p>${schema.description}</p>`}
            <pre tabindex="0">${notationOf(schema)}</pre>
          </article>
        `,
      )}
    </section>
  `;
}

/** Words in backticks are code. */
function prose(text: string) {
  return text.split("`").map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`));
}
