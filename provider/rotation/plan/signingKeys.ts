import { type Memory } from "../memory/memory";
import {
  type Context,
  type Plan,
  type Question,
  type Refusal,
  type Rotation,
} from "../program/plan";
import { type Program } from "../program/program";
import { dueAt, isFuture } from "../memory/schedule";

/** True if the settings are those of another account than the memory's. Only a read can show that both are the same. */
export function isOtherAccount({ kindFacts }: Memory, { account: here }: Context): boolean {
  const known = kindFacts.account;
  return known !== undefined && here?.account !== undefined && known !== here.account;
}

/** Keys of another account are not rolled. */
export function otherAccount(_: Rotation, { memory, context }: Question): Refusal | undefined {
  if (!memory || !isOtherAccount(memory, context)) return undefined;
  return {
    kind: "refuse",
    code: "REKEY_OTHER_ACCOUNT",
    why: whyElsewhere(memory, context),
    isUntilRead: true,
  };
}

export function whyElsewhere({ kindFacts }: Memory, { account }: Context): string {
  const differs =
    kindFacts.address === account?.address
      ? "it was last rolled or adopted with a different rekey:queueUserId or rekey:queueToken"
      : `it belongs to ${kindFacts.address}, but the settings are for ${account?.address}`;
  return `${differs}, and no read has shown that the keys are the same. Restore the old settings, or use a separate resource for the other signing keys (a new name, or \`--replace\`)`;
}

/** When the keys were, or may have been, rolled last (ISO 8601, UTC); undefined if that is not known. */
export function lastRollAt({ attempt, formers }: Memory): string | undefined {
  return attempt?.lastSentAt ?? formers.at(-1)?.since;
}

/** When receivers have the new keys, so that they may be rolled again; undefined if they may be now. */
export function handOverEnd(
  memory: Memory,
  { minInterval }: Program,
  { kind, now }: Context,
): Date | undefined {
  const rolledAt = lastRollAt(memory);
  const interval = minInterval ?? kind.receiverDelay;
  // A time in the future is that of a clock that was ahead: it locks nothing.
  if (interval === undefined || rolledAt === undefined || isFuture(rolledAt, now)) return undefined;
  const end = dueAt(rolledAt, interval);
  return end > now && end.getTime() > Date.parse(rolledAt) ? end : undefined;
}

/** A second roll before receivers know the keys of the first one is an outage. */
export function rolledRecently(
  due: Rotation,
  { memory, program, context }: Question,
): Plan | undefined {
  if (!memory) return undefined;
  const end = handOverEnd(memory, program, context);
  if (!end && !context.read?.isForeign) return undefined;
  const next = end ? `The first \`up\` after ${end.toISOString()}` : "The next `up`";
  const why = `it was, or may have been, rolled at ${lastRollAt(memory)}, and after a second roll, receivers that do not have the new keys yet would reject every message. ${next} may roll it (minInterval)`;
  const isByTime = due.reason === "schedule" || due.reason === "rotatedSince";
  if (isByTime && !due.isAgain) return { kind: "keep", waits: { ...due, why } };
  return { kind: "refuse", code: "REKEY_ROLLED_RECENTLY", why };
}

/** When the second of two rolls may be made, which an old pair needs (ISO 8601, UTC). */
export function secondRollAt(memory: Memory, program: Program, context: Context): string {
  return (handOverEnd(memory, program, context) ?? context.now).toISOString();
}
