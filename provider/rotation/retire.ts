import { RefusedError, RekeyError } from "../domain/errors";
import { ownerOf, secretOf, type Subject } from "../domain/secretKind";
import { afterRead } from "./afterRead";
import { type Finding, type Learned, type Rotated } from "./findings";
import { oldestFormer, validFormers, withoutRetired } from "./formers";
import { type Former, withRetired } from "./memory";
import { type Session } from "./source";
import { type State } from "./state";

/** Retires former ones, if the current one is valid. After a failure, those that are left stay valid. */
export async function retire(
  { state, findings }: Learned,
  formers: readonly Former[],
  session: Session,
  kind: "retired" | "retiredFirst" = "retired",
): Promise<Rotated> {
  const { source, context, subject } = session;
  if (formers.length === 0 || !source.retire) return { state, findings };
  const { memory } = state;
  try {
    const {
      result,
      left = [],
      failure,
      unsaved,
    } = await source.retire(formers, {
      salt: memory.salt,
      currentHash: memory.ofSource.hash,
      current: state.password,
    });
    if (result === "kept") {
      // What is retired first does not stop the rotation: the new one may be listed.
      return { state, findings, failure: kind === "retired" ? notRetired(subject) : undefined };
    }
    if (result === "lost") {
      const sight = { ...(await source.read(state)), isLost: true };
      const lost = afterRead(state, sight, context, subject.id);
      return { state: lost.state, findings: [...findings, ...lost.findings] };
    }
    const valid = validFormers(memory).filter(
      (one) => !formers.includes(one) || left.includes(one),
    );
    const hashes = formers.flatMap((one) => (left.includes(one) ? [] : (one.by ?? [])));
    const retired = withRetired(memory.ofSource, hashes);
    const next = withUnsaved(
      {
        ...state,
        memory: {
          ...memory,
          formers: withoutRetired(memory.formers, valid),
          ofSource: { ...memory.ofSource, ...(subject.kind.shape === "redis" && { retired }) },
        },
      },
      unsaved,
    );
    const rotated = { state: next, findings, failure: failure ?? unsaved };
    const isDone = formers.some((one) => !left.includes(one));
    if (result === "already" || !isDone) return rotated;
    const why = oldestFormer({ formers })?.since;
    if (left.length > 0) {
      return { ...rotated, findings: [...findings, { kind: "partlyRetired", why }] };
    }
    return {
      ...rotated,
      state: { ...next, formerRetiredAt: context.now.toISOString() },
      findings: [...findings, { kind, why }],
    };
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    return { state, findings, failure: error };
  }
}

/** The error of former passwords that are due, while it is not known whether the current one is valid. */
function notRetired(subject: Subject): RekeyError {
  const text = `The former password of ${ownerOf(subject)} was not retired: \`ACL GETUSER\` does not list the current one, so it is unknown which passwords are valid. Nothing was removed. Check that the server shows the user's hashes to the admin. If the current password was removed, set a new version, which adds one.`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "not sent");
}

/** A user whose last change the server has failed to save, or has saved. */
export function withUnsaved(state: State, failure: RekeyError | undefined): State {
  const { memory } = state;
  const isUnsaved = failure ? (true as const) : undefined;
  if (memory.ofSource.isUnsaved === isUnsaved) return state;
  return { ...state, memory: { ...memory, ofSource: { ...memory.ofSource, isUnsaved } } };
}

/** The failure of a run that has added a secret, or retired a former one: the next `up` does what is left. */
export function incomplete(
  subject: Subject,
  { findings }: Learned,
  isAdded: boolean,
  failure: RekeyError,
): RekeyError {
  const has = (kind: Finding["kind"]) => findings.some((one) => one.kind === kind);
  const done = [
    ...(isAdded ? ["added a new one"] : []),
    ...(has("retired") ? ["retired the former one"] : []),
    ...(has("partlyRetired") ? ["retired some of the former ones"] : []),
    ...(has("retiredFirst") ? ["retired the older one"] : []),
  ];
  if (done.length === 0 || failure.code === "REKEY_VERIFICATION_FAILED") return failure;
  // A refusal also says that nothing was changed.
  const why = failure instanceof RefusedError ? `${failure.why}.` : failure.text;
  const text = `The rotation of the ${secretOf(subject)} is not complete: this run has ${done.join(" and ")}. What it could not finish is saved, and the next \`up\` does it: ${why}`;
  return new RekeyError("REKEY_INCOMPLETE", text, failure.delivery);
}
