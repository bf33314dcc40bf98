import { z } from "zod";
import { StoreId } from "../orgs/service.ts";
import { UserId } from "../users/person.ts";

/** Query of `GET /v1/export`: one person, one store or the org; of a key that is bound to a person that one. */
export const ExportQuery = z.strictObject({
  userId: UserId.optional(),
  storeId: StoreId.optional(),
  org: z.literal("1").optional(),
  format: z.enum(["json", "ndjson"]).default("json"),
});
export type ExportQuery = z.output<typeof ExportQuery>;

/** Whose rows an export reads. The org is part of every form, so that no query can forget its tenant. */
export type ExportScope =
  | { readonly name: "org"; readonly orgId: string }
  | { readonly name: "store"; readonly orgId: string; readonly storeId: string }
  | {
      readonly name: "user";
      readonly orgId: string;
      readonly userId: string;
      /** The person and whoever was linked into them. */
      readonly userIds: readonly string[];
    };

export function idOf(scope: ExportScope): string {
  switch (scope.name) {
    case "org":
      return scope.orgId;
    case "store":
      return scope.storeId;
    case "user":
      return scope.userId;
  }
}
