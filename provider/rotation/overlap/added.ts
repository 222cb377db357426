import { type ProbeResult } from "../../clients/probe";
import { RefusedError, RekeyError } from "../../domain/errors";
import { secretOf, type Subject } from "../../domain/secretKind";
import { type Desired, formOf, programOf } from "../desired";
import { identityIn, identityMarks, knownCredential, sentFor } from "../evidence";
import { marksOf, triggerMark } from "../marks";
import { type Reset } from "../plan";
import { type Session } from "../session";
import { type State, withFormer, withoutValues } from "../state";
import { isReplacedForDate, lastsOf } from "./overlap";
import { type Added } from "./source";

/** The state in which what was added is the current one, and what was current is valid until it is retired. */
export function withAdded(
  state: State,
  added: Added,
  { desired, due, session }: Readonly<{ desired: Desired; due: Reset; session: Session }>,
): State {
  const { kind, now } = session.context;
  const { memory } = state;
  const current = marksOf(memory, added.credentials);
  const before = [...identityMarks(kind, memory.current), ...identityMarks(kind, added.before)];
  const rotatedAt = sentFor(desired, now);
  // What was not retired, because the current one was gone, is older than that.
  const generatedAt = memory.overlap ? memory.overlap.formerGeneratedAt : memory.generatedAt;
  return {
    ...withoutValues(state),
    ...added.credentials,
    rotatedAt,
    rotationCount: state.rotationCount + 1,
    rotationReason: due.reason,
    formerRetiredAt: undefined,
    problems: [],
    memory: {
      ...memory,
      ...programOf(desired),
      applied: triggerMark(memory, desired) || memory.applied,
      pending: undefined,
      added: undefined,
      identity: identityIn(kind, current),
      current,
      former: withFormer(memory, before, current),
      replaced: knownCredential(kind, added.before, memory),
      isUnread: undefined,
      generatedAt: added.isOfUnknownAge ? undefined : rotatedAt,
      scheduledFrom: now.toISOString(),
      form: formOf(desired),
      user: memory.user && { ...memory.user, hash: added.hash, passwordCount: undefined },
      // A user may have had no password before.
      overlap:
        added.hashes.length === 0
          ? undefined
          : {
              since: now.toISOString(),
              lasts: lastsOf(desired),
              isUrgent: isReplacedForDate({ ...due, generatedAt }, desired, now) || undefined,
              hashes: added.hashes,
              formerGeneratedAt: generatedAt,
            },
    },
  };
}

/** The state in which the rotation is due again: what was, or may have been, added is not proven to be valid. */
export function withUnproven(
  state: State,
  { reason }: Reset,
  desired: Desired,
  added?: Added,
): State {
  const { memory } = state;
  const trigger = triggerMark(memory, desired);
  // If this run knows of none, that of an earlier run may still be valid.
  const { hash, isOfUnknownAge } = added
    ? { hash: added.unprovenHash, isOfUnknownAge: added.isOfUnknownAge }
    : (memory.added ?? {});
  return { ...state, memory: { ...memory, added: { reason, trigger, hash, isOfUnknownAge } } };
}

/** A user whose last change the server has failed to save, or has saved. */
export function withUnsaved(state: State, failure: RekeyError | undefined): State {
  const { memory } = state;
  if (!memory.user) return state;
  const user = { ...memory.user, isUnsaved: failure ? (true as const) : undefined };
  return { ...state, memory: { ...memory, user } };
}

export function notProven(
  subject: Subject,
  proof: Exclude<ProbeResult, { kind: "accepted" }>,
): RekeyError {
  const { word, isOfServer } = subject.kind;
  const check = isOfServer ? "admin" : "queueUrl or rekey:queueUrl (the address of its region)";
  const why =
    proof.kind === "refused"
      ? `it is refused: ${proof.words}`
      : `it could not be tried: ${proof.why}`;
  const text = `The new ${secretOf(subject)} was made valid, but not proven: ${why}. It was not handed out, and the former ${word} stays valid. Check ${check}, rekey:proxy and rekey:caFile, then run \`up\` again, which tries it again.`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "responded");
}

/** The failure of a run that has added a secret, or retired the former one: the next `up` does what is left. */
export function incomplete(
  subject: Subject,
  { isAdded, retired }: Readonly<{ isAdded: boolean; retired: "former" | "older" | undefined }>,
  failure: RekeyError,
): RekeyError {
  if (!(isAdded || retired) || failure.code === "REKEY_VERIFICATION_FAILED") return failure;
  const done = [isAdded && "added a new one", retired && `retired the ${retired} one`];
  // A refusal also says that nothing was changed.
  const why = failure instanceof RefusedError ? `${failure.why}.` : failure.text;
  const text = `The rotation of the ${secretOf(subject)} is not complete: this run has ${done.filter(Boolean).join(" and ")}. What it could not finish is saved, and the next \`up\` does it: ${why}`;
  return new RekeyError("REKEY_INCOMPLETE", text, failure.delivery);
}
