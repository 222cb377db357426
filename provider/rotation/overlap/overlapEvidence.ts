import { type Evidence } from "../evidence";
import { type Marks, marksOf } from "../marks";
import { recordEvidence } from "../recordEvidence";
import { type Memory, type State } from "../state";

/**
 * The evidence of a token of which two may be valid. The platform shows the former one until it is retired, so a read
 * proves exactly whether it was: by whomever, and whether it is the current one or a third one that took its place.
 */
export const overlapEvidence: Evidence = {
  ...recordEvidence,
  withPending({ state, read }, desired, due, context) {
    const unconfirmed = recordEvidence.withPending({ state, read }, desired, due, context);
    const { memory } = unconfirmed;
    const { overlap, pending } = memory;
    if (!overlap || !pending || read?.credentials.token === undefined) return unconfirmed;
    // The reset replaces what the platform shows, also if clients use the next one.
    return { ...unconfirmed, memory: { ...memory, pending: { ...pending, canSettle: true } } };
  },
  confirmed: (...of) => afterReplacement(recordEvidence.confirmed(...of)),
  afterRead(saved, read, context) {
    const { memory } = saved;
    if (memory.pending) {
      const learned = recordEvidence.afterRead(saved, read, context);
      const isSettled = learned.state.memory.pending === undefined;
      return isSettled ? { ...learned, state: afterReplacement(learned.state) } : learned;
    }
    const isFormer = isFormerShown(memory, marksOf(memory, read.credentials));
    if (isFormer === true) return { state: saved, findings: [] };
    const known = isFormer === false ? withoutOverlap(saved) : saved;
    return recordEvidence.afterRead(known, read, context);
  },
};

/** Whether the former one is valid; undefined if the platform shows none, or if there is no overlap. */
function isFormerShown({ overlap, replaced }: Memory, { token }: Marks): boolean | undefined {
  if (overlap === undefined || token === undefined) return undefined;
  return token === replaced?.mark;
}

/** The state after its former secret was retired. */
export function withoutOverlap(state: State): State {
  return { ...state, memory: { ...state.memory, overlap: undefined } };
}

/** The state after a reset, which has replaced both, and what was added. */
function afterReplacement(state: State): State {
  const { memory } = withoutOverlap(state);
  return { ...state, memory: { ...memory, added: undefined } };
}
