import { type RefusedError } from "../domain/errors";
import { type SecretKind } from "../domain/secretKind";
import { type Credentials } from "../records/fields";
import { type Desired } from "./desired";
import { type KeyMemory, type Memory, type ResetReason, type State } from "./state";

/** What a plan depends on, in addition to the state and the inputs. */
export interface Context {
  readonly kind: SecretKind;
  readonly now: Date;
  /** Whether the platform has an operation that reads such a secret. It may hide the credentials nevertheless. */
  readonly canRead: boolean;
  /** Whether this run makes resets that only a schedule asks for (`rekey:scheduledResets`). */
  readonly isScheduleOn: boolean;
  /** The token with which Rekey itself sends requests to the queue. */
  readonly ownToken?: string | undefined;
  /** Of signing keys: the account of the settings; undefined if they are missing or cannot be used. */
  readonly account?: Pick<KeyMemory, "account" | "address"> | undefined;
  /** Undefined before the read. */
  readonly read?: PlanningRead | undefined;
}

/** What a plan that is made after a read knows of it. */
interface PlanningRead {
  /** What it has shown; nothing, if the platform cannot be read. */
  readonly shown: Credentials;
  /** What all reads of this run have shown: one may be late, or hide something. */
  readonly shownInRun: readonly Credentials[];
  /** Of signing keys: whether it shows exactly one roll since the saved state, of which nothing was known. */
  readonly isRolledOnce: boolean;
}

/** What to do about one secret. */
export type Plan =
  | { readonly kind: "keep"; readonly waits?: WaitingReset | undefined }
  /** Saves inputs that need no request, such as the connection and the schedule. */
  | { readonly kind: "rewrite"; readonly waits?: WaitingReset | undefined }
  /** Reads, because the credentials are not known yet, or because `connection` has changed. */
  | { readonly kind: "read"; readonly waits?: WaitingReset | undefined }
  /** `mayReset`: whether it is reset if a read shows that it is older than `rotatedSince`. */
  | { readonly kind: "adopt"; readonly mayReset: boolean }
  | Reset
  | DueRetirement
  /** Of a user: saves what the server has not saved, without another change. */
  | { readonly kind: "save"; readonly waits?: WaitingReset | undefined }
  /** Of signing keys: counts a roll that a read has shown as that of the new version. */
  | { readonly kind: "claim" }
  /** Depends on inputs that are not known yet. */
  | { readonly kind: "maybe"; readonly names: readonly string[] }
  | Refusal;

export interface Reset {
  readonly kind: "reset";
  readonly reason: ResetReason;
  /** Whether it repeats one that was not confirmed. */
  readonly isAgain?: true;
  /** When the reset that it repeats was sent, the schedule last began, or the secret was generated, if known. */
  readonly lastAt?: string | undefined;
}

/** Of a secret that overlaps: retires the former one, because its time is over, or a date has asked for it. */
export interface DueRetirement {
  readonly kind: "retire";
  readonly why: "time" | "date";
  readonly waits?: WaitingReset | undefined;
}

/** A reset that is due, and why it is not made yet. */
export interface WaitingReset extends Reset {
  readonly why: string;
}

export interface Refusal {
  readonly kind: "refuse";
  readonly code: ConstructorParameters<typeof RefusedError>[0];
  readonly why: string;
  /** Whether a read may end it. */
  readonly isUntilRead?: true;
}

/** What a gate decides by. */
export interface Question {
  readonly memory: Memory | undefined;
  readonly desired: Desired;
  readonly context: Context;
}

/** Why a reset that is due is not made, or waits; undefined if it passes. */
export type Gate = (due: Reset, question: Question) => Plan | undefined;

/** Whether a read can show that the pending reset was applied, so that no other one is needed. */
export function maySettle({ pending }: Memory, { canRead }: Context): boolean {
  return canRead && pending?.canSettle === true;
}

/** Whether the read before a reset may change the plan: it may be enough, or end a refusal. */
export function isReadFirst(saved: State | undefined, plan: Plan, context: Context): boolean {
  if (!saved) return false;
  const isUntilRead = plan.kind === "refuse" && plan.isUntilRead === true;
  return (isUntilRead && context.canRead) || maySettle(saved.memory, context);
}
