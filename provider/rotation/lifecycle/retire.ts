import { RekeyError } from "../../domain/errors";
import { ownerOf, type Subject } from "../../domain/secretKind";
import { type StateChange, type RotationResult } from "../messages/findings";
import { oldestFormer, validFormers, withoutRetired } from "../program/formers";
import { type Former, withRetired } from "../memory/memory";
import { type Session } from "./source";
import { type State } from "../memory/state";

/** Retires former ones, if the current one is valid. After a failure, those that are left stay valid. */
export async function retire(
  { state, findings }: StateChange,
  formers: readonly Former[],
  session: Session,
  kind: "retired" | "retiredFirst" = "retired",
): Promise<RotationResult> {
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
      currentHash: memory.kindFacts.hash,
      current: state.password ?? state.token,
    });
    if (result === "kept") {
      // What is retired first does not stop the rotation: the new one may be listed.
      return { state, findings, failure: kind === "retired" ? notRetired(subject) : undefined };
    }
    const valid = validFormers(memory).filter(
      (one) => !formers.includes(one) || left.includes(one),
    );
    const hashes = formers.flatMap((one) => (left.includes(one) ? [] : (one.retireHash ?? [])));
    const retired = withRetired(memory.kindFacts, hashes);
    const next = withUnsaved(
      {
        ...state,
        memory: {
          ...memory,
          formers: withoutRetired(memory.formers, valid),
          kindFacts: { ...memory.kindFacts, ...(subject.kind.shape === "redis" && { retired }) },
        },
      },
      unsaved,
    );
    const rotated = { state: next, findings, failure: failure ?? unsaved };
    // Those that are not left were refused before: it is not known who has removed them.
    if (result === "already" || left.length > 0) return rotated;
    return {
      ...rotated,
      state: { ...next, formerRetiredAt: context.now.toISOString() },
      findings: [...findings, { kind, why: oldestFormer({ formers })?.since }],
    };
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    return { state, findings, failure: error };
  }
}

/** The error of former passwords that are due, while it is not known whether the current one is valid. */
function notRetired(subject: Subject): RekeyError {
  const text = `The former password of ${ownerOf(subject)} was not retired: \`ACL GETUSER\` does not list the current one, so it is unknown which passwords are valid. Check that the server shows the user's hashes to the admin. If the current password was removed, set a new version, which adds one.`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "not sent");
}

/** A user whose last change the server has failed to save, or has saved. */
export function withUnsaved(state: State, failure: RekeyError | undefined): State {
  const { memory } = state;
  const isUnsaved = failure ? (true as const) : undefined;
  if (memory.kindFacts.isUnsaved === isUnsaved) return state;
  return { ...state, memory: { ...memory, kindFacts: { ...memory.kindFacts, isUnsaved } } };
}
