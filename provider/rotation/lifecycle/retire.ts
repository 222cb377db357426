import { RekeyError } from "../../domain/errors";
import { type RotationResult, type StateChange } from "../messages/findings";
import { oldestFormer, onlyValid, validFormers } from "../program/formers";
import { type Former, withRetired } from "../memory/memory";
import { type Session } from "./source";
import { type State } from "../memory/state";

/**
 * Retires former ones, if the current one is valid. After a failure, those that are left stay valid.
 *
 * @param kind what to say of it
 */
export async function retire(
  { state, findings }: StateChange,
  formers: readonly Former[],
  { source, context }: Session,
  kind: "retired" | "retiredFirst" = "retired",
): Promise<RotationResult> {
  if (formers.length === 0 || !source.retire) return { state, findings };
  const { memory } = state;
  const { salt, kindFacts } = memory;
  const of = { salt, currentHash: kindFacts.hash, current: state.password ?? state.token };
  try {
    const retired = await source.retire(formers, of);
    const { result, left, failure, unsaved, retiredHashes } = retired;
    if (result === "kept") {
      // A secret that was to be retired first does not stop the rotation: the new one may be listed.
      return { state, findings, failure: kind === "retired" ? failure : undefined };
    }
    const valid = validFormers(memory).filter(
      (one) => !formers.includes(one) || left.includes(one),
    );
    const remembered = retiredHashes && { retired: withRetired(kindFacts, retiredHashes) };
    const next = { ...onlyValid(memory, valid), kindFacts: { ...kindFacts, ...remembered } };
    const rotated = {
      state: withUnsaved({ ...state, memory: next }, unsaved),
      findings,
      failure: failure ?? unsaved,
    };
    // Those that are not left were refused before: it is not known who has removed them.
    if (result === "already" || left.length > 0) return rotated;
    return {
      ...rotated,
      state: { ...rotated.state, formerRetiredAt: context.now.toISOString() },
      findings: [...findings, { kind, why: oldestFormer({ formers })?.since }],
    };
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    return { state, findings, failure: error };
  }
}

/** A user whose last change the server has failed to save, or has saved. */
export function withUnsaved<S extends State>(state: S, failure: RekeyError | undefined): S {
  const { memory } = state;
  const isUnsaved = failure && true;
  return { ...state, memory: { ...memory, kindFacts: { ...memory.kindFacts, isUnsaved } } };
}
