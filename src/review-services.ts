import type { AuditService } from "./audit/service.ts";
import { SourceRepository } from "./chat/source-repository.ts";
import { DuplicateRepository } from "./facts/duplicate-repository.ts";
import { Duplicates } from "./facts/duplicates.ts";
import { Explanations } from "./facts/explanation.ts";
import { ListingRepository } from "./facts/listing-repository.ts";
import { OrgReview } from "./facts/org-review.ts";
import { OrgReviewRepository } from "./facts/org-review-repository.ts";
import { FactReview, type ReviewDependencies } from "./facts/review.ts";
import type { FactService } from "./facts/service.ts";
import { FactSources } from "./facts/sources.ts";

interface Dependencies extends Omit<ReviewDependencies, "lists"> {
  readonly service: FactService;
  readonly audit: AuditService;
}

/** What people do with facts: look through them, ask why, decide. */
export function buildReview({ service, audit, ...deps }: Dependencies) {
  const { transactions, clock, orchestrator, keys } = deps;
  const sources = new FactSources(new SourceRepository());
  const shared = { transactions, clock, orchestrator };
  return {
    review: new FactReview({ ...deps, lists: new ListingRepository() }),
    orgReview: new OrgReview({ ...shared, lists: new OrgReviewRepository(), keys, sources }),
    duplicates: new Duplicates({ ...shared, duplicates: new DuplicateRepository(), audit }),
    explanations: new Explanations({ facts: service, sources, transactions, clock }),
  };
}
