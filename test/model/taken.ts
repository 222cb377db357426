import { type Former, type Memory } from "../../provider/rotation/memory/memory";
import { type Properties } from "../support/wire";
import { type Account, type Change, type Phase } from "./account";
import { placeOf } from "./accounts";
import { type Done } from "./deployment";
import { type Place, type Program, type Settings, type Subject, type Up } from "./steps";

/** What a state has of a secret. */
export interface Seen {
  readonly memory: Memory;
  readonly rotationCount: number;
  readonly outcome: "reset" | "adopted" | "unknown" | "unproven";
  /** Why a rotation that is due waits. */
  readonly waits?: string;
  /** The outputs, which have the credentials whose values the state has. */
  readonly outputs: Properties;
  /** The current value; undefined if neither the state nor the age file has it. */
  readonly value: string | undefined;
}

/** What one step did about a secret. */
export interface Taken extends Omit<Done, "announced" | "failures"> {
  readonly subject: Subject;
  readonly account: Account;
  readonly before: Seen | undefined;
  readonly after: Seen | undefined;
  readonly up: Up | undefined;
  /** What the preview of an `up` has said, and what the step itself has. */
  readonly announced: string;
  readonly said: readonly string[];
  /** Whether all requests were responded to in time, and no one else has interfered. */
  readonly isHonest: boolean;
  /** Why the rotation, the verification and the Retirement failed. */
  readonly failures: readonly string[];
  readonly program: Program;
  readonly settings: Settings;
  readonly ownToken: string | undefined;
  readonly leakedAt: string | undefined;
  readonly now: number;
  /** What was accepted there before it, and what others had brought back before it. */
  readonly validBefore: ReadonlySet<string>;
  readonly backBefore: ReadonlySet<string>;
  /** What the step has saved in the state, and in age files. */
  readonly inState: ReadonlySet<string>;
  readonly inFile: ReadonlySet<string>;
}

/** Whether two secrets may be valid, so that a rotation is not an outage. */
export function overlaps({ shape }: Subject): boolean {
  return shape === "adds" || shape === "redis";
}

export function isKilled({ up }: Taken): boolean {
  return up?.killedAfter === "rotation";
}

export function isRotated({ before, after }: Taken): boolean {
  return (after?.rotationCount ?? 0) > (before?.rotationCount ?? 0);
}

/** What a phase of this step has removed. */
export function removedIn(phase: Phase, { account }: Taken): string[] {
  return account.sent.flatMap((one) => (one.phase === phase ? one.removed : []));
}

/** What the rotation has made in this step by a request. */
export function madeBy(request: "add" | "reset", { account }: Taken): string[] {
  return account.sent.flatMap((one) => (one.request === request ? one.added : []));
}

/** Whether it has only asked for the next token, which the platform returns if there is one. */
export function isOnlyRead({ shape }: Subject, { request, added }: Change): boolean {
  return shape === "adds" && request === "add" && added.length === 0;
}

export function validIn({ formers }: Memory): Former[] {
  return formers.filter(({ retireHash }) => retireHash !== undefined);
}

/** Where a secret that is saved is. */
export function savedPlace(seen: Seen | undefined): Place {
  const { server, account } = seen?.memory.kindFacts ?? {};
  return server?.endpoint === undefined ? ((account ?? "home") as Place) : placeOf(server.endpoint.host);
}

/** What asks for a former one to be retired by the rotation itself. */
export function retirementOf(
  { validFor, since, isValidAgain, generatedAt }: Former,
  { program, settings, leakedAt, now }: Taken,
): "date" | "time" | "back" | undefined {
  if (validFor === "next up" || (program.isLeaked && isOlder(generatedAt, leakedAt, now))) return "date";
  if (settings.scheduledResets === "off") return undefined;
  if (isValidAgain) return program.overlap === "retirement" ? undefined : "back";
  return validFor === "none" || (validFor === "6h" && timeAfter(since, 6) <= now) ? "time" : undefined;
}

/** What is remembered of a value that was valid before. What is valid again may not be known before the read. */
export function formerOf(value: string, { before, account, program, backBefore }: Taken): Former | undefined {
  const formers = before ? validIn(before.memory) : [];
  const known = account.valueBy
    ? formers.find(({ retireHash = "" }) => account.valueBy?.(retireHash) === value)
    : formers[0];
  const isValidAgain =
    known === undefined && (backBefore.has(value) || account.removedByOthers.has(before?.value ?? ""));
  return isValidAgain ? { since: "", validFor: program.overlap, isValidAgain } : known;
}

/** The values of what is saved as former and valid, or only of those for which it is so. */
export function formersIn({ after, account }: Taken, isSo: (one: Former) => boolean = () => true): string[] {
  const some = after ? validIn(after.memory).filter(isSo) : [];
  // A user of the queue has two tokens at most.
  if (!account.valueBy) return [...account.validAt()].filter((value) => some.length > 0 && value !== after?.value);
  return some.flatMap(({ retireHash = "" }) => account.valueBy?.(retireHash) ?? []);
}

/** Whether a value is that of a former one that no Retirement retires, because it is valid for a time. */
export function isTimed(value: string, taken: Taken): boolean {
  return formersIn(taken, ({ validFor }) => validFor === "6h" || validFor === "none").includes(value);
}

/** Whether all passwords of a user are those that the rotation replaces. */
export function isFirst({ subject, before, settings, validBefore }: Taken): boolean {
  if (subject.shape !== "redis" || !before?.memory.current.marks.password) return true;
  // At another address, only a list with the hash of the current password proves that it is the same server.
  const isListed = before.memory.kindFacts.hash !== undefined && validBefore.has(before.value ?? "");
  return savedPlace(before) !== settings.place && !isListed;
}

export function isSamePlace(one: Place, other: Place): boolean {
  return (one === "elsewhere") === (other === "elsewhere");
}

export function timeAfter(since: string, hours: number): number {
  return Date.parse(since) + hours * 3_600_000;
}

/** A time in the future is that of a clock that was ahead. */
export function isOlder(at: string | undefined, date: string | undefined, now: number): boolean {
  if (date === undefined) return false;
  return at === undefined || Date.parse(at) < Date.parse(date) || Date.parse(at) > now + 300_000;
}
