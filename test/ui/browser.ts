import type { TestApp } from "../support/app.ts";

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Where a redirect leads. */
  readonly location: string | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** Somebody's browser: keeps the cookie and sends forms as browsers do. Follows no redirect by itself. */
export class Browser {
  readonly #app: TestApp;
  readonly #host: string;
  cookie: string | undefined;

  constructor(app: TestApp, host = "localhost:3000") {
    this.#app = app;
    this.#host = host;
  }

  get(url: string, headers: Headers = {}): Promise<Page> {
    return this.#send("GET", url, headers);
  }

  /** @param headers in place of those that a browser sends from our own page */
  post(
    url: string,
    form: Readonly<Record<string, string>> = {},
    headers: Headers = { origin: `http://${this.#host}` },
  ): Promise<Page> {
    const sent = { "content-type": "application/x-www-form-urlencoded", ...headers };
    return this.#send("POST", url, sent, new URLSearchParams(form).toString());
  }

  /** Posts a form and goes where the answer leads. */
  async submit(url: string, form: Readonly<Record<string, string>>): Promise<Page> {
    const answer = await this.post(url, form);
    if (answer.status !== 303) throw new Error(`${url}: ${answer.status} ${answer.html}`);
    return this.get(answer.location ?? "");
  }

  signIn(key: string): Promise<Page> {
    return this.post("/ui/sign-in", { key });
  }

  async #send(method: "GET" | "POST", url: string, headers: Headers, payload?: string) {
    const response = await this.#app.http.inject({
      method,
      url,
      headers: {
        host: this.#host,
        ...(this.cookie !== undefined && { cookie: this.cookie }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    });
    const [cookie] = [response.headers["set-cookie"] ?? []].flat();
    if (cookie !== undefined) this.cookie = cookie.split(";")[0];
    return {
      status: response.statusCode,
      html: response.body,
      headers: response.headers,
      location: response.headers.location as string | undefined,
    };
  }
}

export async function signedIn(app: TestApp, key: string): Promise<Browser> {
  const browser = new Browser(app);
  const { status } = await browser.signIn(key);
  if (status !== 303) throw new Error(`not signed in: ${status}`);
  return browser;
}

/** What a reader sees of a page: its text without tags, entities read, white space joined. */
export function textOf(html: string): string {
  const text = html
    .replace(/<head>[\s\S]*<\/head>/, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
  return text.replaceAll(/\s+/g, " ").trim();
}
