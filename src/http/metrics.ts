import { Counter, collectDefaultMetrics, Histogram, Registry } from "@prometheus-io/client";

/** Counts for Prometheus: routes, tools and outcomes, never ids or contents. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<"route" | "method" | "status">;
  readonly #tools: Counter<"tool" | "outcome">;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Histogram({
      name: "souvenir_http_request_seconds",
      help: "Time from a request's first byte to the end of its answer",
      labelNames: ["route", "method", "status"],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    });
    this.#tools = new Counter({
      name: "souvenir_tool_calls_total",
      help: "Tool calls by tool and outcome (ok or an error code)",
      labelNames: ["tool", "outcome"],
      registers,
    });
  }

  request(labels: { route: string; method: string; status: number }, seconds: number): void {
    this.#requests.observe({ ...labels, status: String(labels.status) }, seconds);
  }

  tool(tool: string, outcome: string): void {
    this.#tools.inc({ tool, outcome });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
