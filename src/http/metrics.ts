import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "@prometheus-io/client";

/** Counts for Prometheus: routes, tools and outcomes, never ids or contents. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<"route" | "method" | "status">;
  readonly #tools: Counter<"tool" | "outcome">;
  readonly #jobs: Counter<"kind" | "outcome">;
  readonly #oldestDueJob: Gauge;
  readonly #waitingForVectors: Gauge;

  readonly #extractions: Counter<"outcome">;
  readonly #droppedDrafts: Counter<"reason">;
  readonly #extractionTokens: Counter<"direction">;
  readonly #forwards: Counter<"outcome">;
  readonly #oldestForward: Gauge;

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
    this.#jobs = new Counter({
      name: "souvenir_jobs_total",
      help: "Attempts at jobs by kind and outcome; each one counted as dead wants somebody to look",
      labelNames: ["kind", "outcome"],
      registers,
    });
    this.#oldestDueJob = new Gauge({
      name: "souvenir_oldest_due_job_seconds",
      help: "How long the oldest job that could run has been waiting; 0 when none waits",
      registers,
    });
    this.#waitingForVectors = new Gauge({
      name: "souvenir_documents_waiting_for_vectors",
      help: "Facts and messages that are found by their words alone until they have a vector",
      registers,
    });
    this.#extractions = new Counter({
      name: "souvenir_extractions_total",
      help: "Turns by what became of them: extracted, skipped, dead, or why an attempt failed",
      labelNames: ["outcome"],
      registers,
    });
    this.#droppedDrafts = new Counter({
      name: "souvenir_extraction_drops_total",
      help: "What extractions left out, by reason: drafts against a rule, messages beyond the limits",
      labelNames: ["reason"],
      registers,
    });
    this.#extractionTokens = new Counter({
      name: "souvenir_extraction_tokens_total",
      help: "Tokens that the provider counted, by direction",
      labelNames: ["direction"],
      registers,
    });
    this.#forwards = new Counter({
      name: "souvenir_forwards_total",
      help: "Attempts to forward to the agent runtime: delivered, failed, dead (given up), dropped (nothing to tell)",
      labelNames: ["outcome"],
      registers,
    });
    this.#oldestForward = new Gauge({
      name: "souvenir_oldest_forward_seconds",
      help: "How long the oldest delivery to the agent runtime has been waiting, looked at every five minutes",
      registers,
    });
  }

  forward(outcome: string): void {
    this.#forwards.inc({ outcome });
  }

  oldestForward(seconds: number): void {
    this.#oldestForward.set(seconds);
  }

  extraction(outcome: string): void {
    this.#extractions.inc({ outcome });
  }

  droppedDrafts(reason: string, count: number): void {
    this.#droppedDrafts.inc({ reason }, count);
  }

  extractionTokens(direction: "input" | "output", count: number): void {
    this.#extractionTokens.inc({ direction }, count);
  }

  request(labels: { route: string; method: string; status: number }, seconds: number): void {
    this.#requests.observe({ ...labels, status: String(labels.status) }, seconds);
  }

  tool(tool: string, outcome: string): void {
    this.#tools.inc({ tool, outcome });
  }

  job(kind: string, outcome: string): void {
    this.#jobs.inc({ kind, outcome });
  }

  oldestDueJob(seconds: number): void {
    this.#oldestDueJob.set(seconds);
  }

  waitingForVectors(documents: number): void {
    this.#waitingForVectors.set(documents);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
