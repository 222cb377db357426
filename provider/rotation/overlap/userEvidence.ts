import { type AclUser, nameInCommand } from "../../clients/aclReplies";
import { type Finding, type Learned } from "../findings";
import { type State } from "../state";

/**
 * Compares the list of a user's passwords with what is saved. A former one that is not in it was retired. A current one
 * that is not in it was removed by someone else. Others are never taken for Rekey's own.
 */
export function afterUserRead(saved: State, { hashes }: AclUser, userName: string): Learned {
  const { overlap } = saved.memory;
  const valid = overlap?.hashes.filter((hash) => hashes.includes(hash)) ?? [];
  const next = overlap && valid.length > 0 ? { ...overlap, hashes: valid } : undefined;
  const state = { ...saved, memory: { ...saved.memory, overlap: next } };
  const findings = [...ifCurrentIsGone(saved, hashes), ...ofOthers(saved, hashes, userName)];
  return { state, findings };
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
  if (memory.user?.hash === undefined) return [unknownHash(userName)];
  const known = [memory.user.hash, memory.added?.hash, ...(memory.overlap?.hashes ?? [])];
  const { length } = hashes.filter((hash) => !known.includes(hash));
  if (length === 0) return [];
  const [have, them] = length === 1 ? ["1 password", "it"] : [`${length} passwords`, "them"];
  const why = `the user has ${have} that Rekey does not know and never retires: someone else has added ${them}, or a run was killed before it could save ${them}. \`ACL GETUSER ${nameInCommand(userName)}\` lists their hashes, and \`ACL SETUSER ${nameInCommand(userName)} !<hash>\` removes one.`;
  return [{ kind: "warning", why }];
}

/** A password whose hash is not known cannot be retired. */
export function unknownHash(userName: string): Finding {
  const why = `Rekey is not certain which of the user's hashes is that of the current password, so the next rotation does not retire it: it stays valid. After that rotation, find its hash with \`ACL GETUSER ${nameInCommand(userName)}\`, and remove it with \`ACL SETUSER ${nameInCommand(userName)} !<hash>\`.`;
  return { kind: "warning", why };
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
