import { type State } from "./state";

/** What a read or a response has shown, and is worth a line. */
export interface Finding {
  readonly kind:
    /**
     * A read shows that the pending reset was applied; that a roll since the last `up` counts as that of the version.
     */
    | "settled"
    | "claimed"
    /** Someone else has rolled, and the pending roll was not applied. */
    | "overtaken"
    /** Someone else has changed something. */
    | "drift"
    /** What was not known was read. */
    | "read"
    /** After a reset: a read shows former credentials or failed; hides the new ones; the response has left them out. */
    | "unread"
    | "hidden"
    | "left out"
    /** Of new credentials, some are not shown. */
    | "missing"
    /** A read does not show what is saved; shows former credentials; shows others, but not the best one. */
    | "unseen"
    | "stale"
    | "differs"
    /** Adopted without credentials, because a read hides them, or because there is no read. */
    | "adopted"
    | "not contacted"
    /** Parts of the response could not be read. */
    | "problems"
    /** Still older than `rotatedSince`. */
    | "older"
    /** Values were removed; stay, because they are nowhere else; are not known, so that their form changes later. */
    | "removed"
    | "kept"
    | "later"
    /** It was not compared, because it may be another secret. */
    | "elsewhere"
    /** It could not be read. */
    | "failed";
  /** Credentials, fields or problems. */
  readonly names?: readonly string[];
  /** Why, if it depends on the case. */
  readonly why?: string | undefined;
}

/** A state after a read or a response, and what is worth telling. */
export interface Learned {
  readonly state: State;
  readonly findings: readonly Finding[];
}
