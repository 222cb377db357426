import { type Evidence } from "../evidence";
import { marksOf } from "../marks";
import { recordEvidence } from "../recordEvidence";
import { isObject } from "../../records/fields";
import { type SecretResponse } from "../../records/response";
import { type Memory, parsed, type State } from "../state";

/**
 * The evidence of a token of which two may be valid. The platform shows the former one until it is retired, so a read
 * proves exactly whether it was, and whether it is the current one or a third one that took its place.
 */
export const overlapEvidence: Evidence = {
  ...recordEvidence,
  withPending(before, desired, due, context) {
    const unconfirmed = recordEvidence.withPending(before, desired, due, context);
    const { memory } = unconfirmed;
    const { overlap, pending } = memory;
    // The reset replaces all that is valid: what was added, and what the platform shows, also if clients use another.
    const canSettle = overlap && before.read?.credentials.token !== undefined;
    return {
      ...unconfirmed,
      memory: {
        ...memory,
        added: undefined,
        pending: pending && canSettle ? { ...pending, canSettle } : pending,
      },
    };
  },
  confirmed: (...of) => withoutOverlap(recordEvidence.confirmed(...of)),
  afterRead(saved, read, context) {
    const isFormer = isFormerValid(saved.memory, read);
    if (isFormer === true) return { state: saved, findings: [] };
    const known = isFormer === false ? withoutOverlap(saved) : saved;
    return recordEvidence.afterRead(known, read, context);
  },
};

/** Whether the former one is valid: the platform shows it until it is retired. Undefined if the read shows neither. */
function isFormerValid(memory: Memory, read: SecretResponse): boolean | undefined {
  const { overlap, replaced, former } = memory;
  const { token } = marksOf(memory, read.credentials);
  if (overlap === undefined || token === undefined) return undefined;
  if (token === replaced?.mark) return true;
  // One that is older is that of an outdated read.
  return former.includes(token) ? undefined : false;
}

/** Whether a user has a next pair of tokens. It is not a field of the record, because Rekey changes it itself. */
export function hasNext({ otherFields = "{}" }: SecretResponse): boolean {
  const others = parsed(otherFields);
  return isObject(others) && others["has_next_token"] === true;
}

/** The state after its former secret was retired. */
export function withoutOverlap(state: State): State {
  return { ...state, memory: { ...state.memory, overlap: undefined } };
}
