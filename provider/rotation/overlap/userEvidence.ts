import { type AclUser } from "../../clients/aclReplies";
import { type Finding, type Learned } from "../findings";
import { type State } from "../state";
import { withoutOverlap } from "./overlapEvidence";

/**
 * What the list of a user's passwords says of what is saved. A former one that is not in it was retired, by whomever; a
 * current one that is not in it was removed by someone else. Others are never taken for Rekey's own.
 */
export function afterUserRead(saved: State, { hashes }: AclUser, userName: string): Learned {
  const { overlap } = saved.memory;
  const valid = overlap?.hashes.filter((hash) => hashes.includes(hash)) ?? [];
  const state = overlap && valid.length > 0 ? withHashes(saved, valid) : withoutOverlap(saved);
  const findings = [...ifCurrentIsGone(saved, hashes), ...ofOthers(saved, hashes, userName)];
  return { state, findings };
}

function withHashes(state: State, hashes: readonly string[]): State {
  const { overlap } = state.memory;
  return { ...state, memory: { ...state.memory, overlap: overlap && { ...overlap, hashes } } };
}

function ifCurrentIsGone({ memory }: State, hashes: readonly string[]): Finding[] {
  const hash = memory.user?.hash;
  if (hash === undefined || hashes.includes(hash)) return [];
  const why =
    "the user does not have the current password any more: someone else has removed it, or the server was restarted without an ACL file. It is not added again. Set a new version, which adds a new one.";
  return [{ kind: "warning", why }];
}

/** Before the first rotation, all passwords are those that it retires. */
function ofOthers(state: State, hashes: readonly string[], userName: string): Finding[] {
  const { memory, rotationCount } = state;
  if (rotationCount === 0) return [];
  if (memory.user?.hash === undefined) return ifHashIsUnknown(undefined, userName);
  const known = [memory.user.hash, memory.added?.hash, ...(memory.overlap?.hashes ?? [])];
  const { length } = hashes.filter((hash) => !known.includes(hash));
  if (length === 0) return [];
  const [have, them] = length === 1 ? ["1 password", "it"] : [`${length} passwords`, "them"];
  const why = `the user has ${have} that Rekey does not know and never retires: someone else has added ${them}, or a run was killed before it could save ${them}. \`ACL GETUSER ${userName}\` lists their hashes, and \`ACL SETUSER ${userName} !<hash>\` removes one.`;
  return [{ kind: "warning", why }];
}

/** A password whose hash is not known cannot be retired. */
export function ifHashIsUnknown(hash: string | undefined, userName: string): Finding[] {
  if (hash !== undefined) return [];
  const why = `under which hash the server lists the current password is not certain, so the next rotation does not retire it: it stays valid. After that rotation, find its hash with \`ACL GETUSER ${userName}\`, and remove it with \`ACL SETUSER ${userName} !<hash>\`.`;
  return [{ kind: "warning", why }];
}

/**
 * The passwords that a rotation replaces: that of the last rotation, or at the first one all that the user has. If that
 * of the last one is gone, those before it were not retired.
 */
export function formerHashes({ memory, rotationCount }: State, { hashes }: AclUser): string[] {
  const { user, added, overlap } = memory;
  const known = [user?.hash, ...(overlap?.hashes ?? [])];
  return hashes.filter((hash) => {
    return rotationCount === 0 ? hash !== added?.hash : known.includes(hash);
  });
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
