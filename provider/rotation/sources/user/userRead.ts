import { onlyValid, validFormers } from "../../program/formers";
import { type StateChange } from "../../messages/findings";
import { beginning, passwordFindings, unknownHash } from "../../messages/passwordFindings";
import { type Former, type Memory, withMustRead, withRetired } from "../../memory/memory";
import { type Context } from "../../program/plan";
import { untilRetirement } from "../../program/program";
import { type ReadResult } from "../../lifecycle/source";
import { type State } from "../../memory/state";

/**
 * The current password of a user in the list of hashes. A list that has others hides nothing. If it is
 * `unclear`, only a login decides: if that is accepted, an empty list hides all that are valid.
 *
 * @param hash of the current one; undefined if that is not certain
 */
export function currentIn(
  hashes: readonly string[],
  hash: string | undefined,
): "listed" | "gone" | "unclear" {
  if (hash !== undefined && hashes.includes(hash)) return "listed";
  return hash === undefined || hashes.length === 0 ? "unclear" : "gone";
}

/**
 * Compares the list of a user's passwords with what is saved. A former one that is not in it was retired, and one that
 * was retired and is in it again is retired again. Others are never taken for Rekey's own.
 */
export function afterUserRead(
  saved: State,
  { hashes, goneReason }: Pick<ReadResult, "hashes" | "goneReason">,
  { now, program }: Context,
  userName: string,
): StateChange {
  if (!hashes) {
    const why =
      "the server does not list it, so it is unknown which of the user's passwords are valid";
    return { state: saved, findings: [{ kind: "notCompared", why }] };
  }
  const { memory } = saved;
  const { retired = [] } = memory.kindFacts;
  const [valid, ended] = split(validFormers(memory), ({ retireHash = "" }) =>
    hashes.includes(retireHash),
  );
  const [back, stillRetired] = split(retired, (hash) => hashes.includes(hash));
  const again = back.map((retireHash): Former => {
    const former = {
      retireHash,
      since: now.toISOString(),
      validFor: program?.overlap ?? untilRetirement,
    };
    // It may be what clients use now.
    return goneReason === undefined ? { ...former, isValidAgain: true } : former;
  });
  const isFirst = memory.current.marks.password === undefined;
  const others = hashes.filter((hash) => hash !== memory.attempt?.expects);
  const { hash } = memory.kindFacts;
  const read = withMustRead(onlyValid(memory, valid, again), goneReason !== undefined);
  const known = [hash, ...read.formers.map(({ retireHash }) => retireHash)];
  const next: Memory = {
    ...read,
    kindFacts: {
      ...memory.kindFacts,
      retired: withRetired(
        { retired: stillRetired },
        ended.map(({ retireHash = "" }) => retireHash),
      ),
      passwordCount: isFirst ? others.length : undefined,
      unknown:
        hash === undefined ? hash : others.filter((one) => !known.includes(one)).map(beginning),
    },
  };
  const state = { ...saved, memory: next };
  return {
    state,
    findings: [
      ...(goneReason === undefined ? [] : [{ kind: "warning", why: `${goneReason}.` } as const]),
      ...(again.length > 0
        ? [{ kind: goneReason === undefined ? "back" : "backInstead" } as const]
        : []),
      ...(isFirst || hash ? passwordFindings(next, userName) : [unknownHash(userName)]),
    ],
  };
}

function split<T>(all: readonly T[], isIn: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isIn), all.filter((one) => !isIn(one))];
}

/**
 * The hash by which a server knows a token: the SHA-256 of it, otherwise the only one that is new. Of two new ones,
 * none is taken for it.
 */
export function hashInList(
  own: string,
  before: readonly string[],
  after: readonly string[],
): string | undefined {
  if (after.includes(own)) return own;
  const [first, ...others] = after.filter((hash) => !before.includes(hash));
  return others.length === 0 ? first : undefined;
}
