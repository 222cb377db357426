import { RekeyError } from "../domain/errors";
import { afterRead } from "./afterRead";
import { type Learned, type Rotated } from "./findings";
import { oldestFormer, validFormers, withoutRetired } from "./formers";
import { type Former, maxPast } from "./memory";
import { type Session } from "./session";
import { type State } from "./state";

/** Retires former ones, if the current one is valid. After a failure, those that are left stay valid. */
export async function retire(
  { state, findings }: Learned,
  formers: readonly Former[],
  session: Session,
): Promise<Rotated> {
  const { source, context, subject } = session;
  if (formers.length === 0 || !source.retire) return { state, findings };
  const { memory } = state;
  try {
    const {
      result,
      left = [],
      failure,
    } = await source.retire(formers, {
      salt: memory.salt,
      currentHash: memory.ofSource.hash,
    });
    if (result === "kept") return { state, findings };
    if (result === "lost") {
      const sight = { ...(await source.read(state)), hasNext: false };
      const lost = afterRead(state, sight, context, subject.id);
      return { state: lost.state, findings: [...findings, ...lost.findings] };
    }
    const valid = validFormers(memory).filter(
      (one) => !formers.includes(one) || left.includes(one),
    );
    const hashes = formers.flatMap((one) => (left.includes(one) ? [] : (one.by ?? [])));
    const retired = [...(memory.ofSource.retired ?? []), ...hashes].slice(-maxPast);
    const next = withUnsaved(
      {
        ...state,
        memory: {
          ...memory,
          formers: withoutRetired(memory.formers, valid),
          ofSource: { ...memory.ofSource, ...(subject.kind.shape === "redis" && { retired }) },
        },
      },
      failure,
    );
    if (result === "already") return { state: next, findings, failure };
    const since = oldestFormer({ formers })?.since;
    return {
      state: { ...next, formerRetiredAt: context.now.toISOString() },
      findings: [...findings, { kind: "retired", why: since }],
      failure,
    };
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    return { state, findings, failure: error };
  }
}

/** A user whose last change the server has failed to save, or has saved. */
export function withUnsaved(state: State, failure: RekeyError | undefined): State {
  const { memory } = state;
  const isUnsaved = failure ? (true as const) : undefined;
  if (memory.ofSource.isUnsaved === isUnsaved) return state;
  return { ...state, memory: { ...memory, ofSource: { ...memory.ofSource, isUnsaved } } };
}
