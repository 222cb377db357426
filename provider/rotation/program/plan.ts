import { type RefusedError } from "../../domain/errors";
import { type SecretKind } from "../../domain/secretKind";
import { type Credentials } from "../../records/fields";
import { type Former, type KeyMemory, type Memory, type RotationReason } from "../memory/memory";
import { type Program } from "./program";
import { type State } from "../memory/state";

/** The facts on which a plan depends, in addition to the state and the program. */
export interface Context {
  readonly kind: SecretKind;
  readonly now: Date;
  /** Such a secret can be read, although a read may hide the credentials. */
  readonly canRead: boolean;
  /** This run makes rotations that only a schedule asks for (`rekey:scheduledResets`). */
  readonly isScheduleOn: boolean;
  /** The token with which Rekey itself sends requests to the queue. */
  readonly ownToken?: string | undefined;
  /** Of signing keys: the account of the settings; undefined if they are missing or cannot be used. */
  readonly account?: Pick<KeyMemory, "account" | "address"> | undefined;
  /** Undefined in a refresh, which hands over in the form of before. */
  readonly program?: Program | undefined;
  /** Undefined before the read. */
  readonly read?: PlanningRead | undefined;
}

/** The part of a read that a plan depends on. */
interface PlanningRead {
  /** The credentials that it has shown; none if the platform cannot be read. */
  readonly shown: Credentials;
  /** The credentials that all reads of this run have shown: one may be late, or hide something. */
  readonly shownInRun: readonly Credentials[];
  /** Why the current one is not valid any more, or is not known to be at this server. */
  readonly goneReason?: string | undefined;
  readonly isOtherServer?: boolean | undefined;
  /** Of signing keys: whether the current one is not the next one that was known: two rolls were made elsewhere. */
  readonly isForeign?: boolean | undefined;
}

/** The next step for one secret, and a rotation that is due and waits. */
export type Plan = Step & { readonly waits?: WaitingRotation | undefined };

type Step =
  /** Needs no request. `saves`: inputs, such as the connection and the schedule. */
  | { readonly kind: "keep"; readonly saves?: true }
  /** Reads, because something is not known. `why` a former one may be valid, which changes nothing for consumers. */
  | { readonly kind: "read"; readonly why?: "former" }
  /** `mayRotate`: whether it is rotated if a read shows that it is older than `rotatedSince`. */
  | { readonly kind: "adopt"; readonly mayRotate: boolean }
  | Rotation
  /** Retires former ones, because their time is over, or a date has asked for it. */
  | DueRetirement
  /** Of a user: saves what the server has not saved, without another change. */
  | { readonly kind: "save" }
  /** Depends on inputs that are not known yet. */
  | { readonly kind: "maybe"; readonly names: readonly string[] }
  | Refusal;

/** True if a plan does anything, if only to save what the program says. */
export function isChange(plan: Plan): boolean {
  return plan.kind !== "keep" || plan.saves === true;
}

export interface Rotation {
  readonly kind: "rotate";
  readonly reason: RotationReason;
  /** It repeats one that was not confirmed. */
  readonly isAgain?: true;
  /** When the one that it repeats was sent, the schedule last began, or the secret was generated, if known. */
  readonly lastAt?: string | undefined;
}

/** The former ones that are due to be retired. */
export interface DueFormers {
  readonly why: "time" | "date";
  readonly formers: readonly Former[];
}

export interface DueRetirement extends DueFormers {
  readonly kind: "retire";
}

/** A rotation that is due, and why it is not made yet. */
interface WaitingRotation extends Rotation {
  readonly why: string;
}

export interface Refusal {
  readonly kind: "refuse";
  readonly code: ConstructorParameters<typeof RefusedError>[0];
  readonly why: string;
  /** A read may end it. */
  readonly isUntilRead?: true;
}

/** The facts by which a gate decides. */
export interface Question {
  readonly memory: Memory | undefined;
  readonly program: Program;
  readonly context: Context;
}

/** Why a rotation that is due is not made, or waits; undefined if it passes. */
export type Gate = (due: Rotation, question: Question) => Plan | undefined;

/** True if a read can show that the open attempt was applied, so that no other one is needed. */
export function maySettle({ attempt }: Memory, { canRead }: Context): boolean {
  return canRead && attempt?.canSettle === true;
}

/** True if the read before a rotation may change the plan: it may be enough, or end a refusal. */
export function isReadFirst(saved: State | undefined, plan: Plan, context: Context): boolean {
  if (!saved) return false;
  const isUntilRead = plan.kind === "refuse" && plan.isUntilRead === true;
  return (isUntilRead && context.canRead) || maySettle(saved.memory, context);
}
