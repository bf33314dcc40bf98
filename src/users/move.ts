/** What goes from one person to another when they are linked, or goes back. */
export interface Move {
  readonly orgId: string;
  readonly from: string;
  readonly to: string;
  /** What came by these identities goes. */
  readonly identityIds: readonly string[];
  /**
   * Of a link: everything goes, and what came by no identity in particular is given this one first, so that an undo finds
   * it. Absent for an undo.
   */
  readonly everythingAs?: string | null;
  /** Names the link in what has to be renamed. */
  readonly linkId: string;
}
