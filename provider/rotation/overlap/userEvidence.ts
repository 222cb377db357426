import { type AclUser, nameInCommand } from "../../clients/aclReplies";
import { type Finding, type Learned, type Message } from "../findings";
import { type Memory, type State } from "../state";

/**
 * Compares the list of a user's passwords with what is saved. A former one that is not in it was retired. A current one
 * that is not in it was removed by someone else. Others are never taken for Rekey's own.
 */
export function afterUserRead(saved: State, listed: AclUser, userName: string): Learned {
  if (saved.rotationCount === 0) return beforeFirstRotation(saved, listed);
  const { hashes } = listed;
  const { overlap } = saved.memory;
  const valid = overlap?.hashes.filter((hash) => hashes.includes(hash)) ?? [];
  const next = overlap && valid.length > 0 ? { ...overlap, hashes: valid } : undefined;
  const state = { ...saved, memory: { ...saved.memory, overlap: next } };
  const findings = [...ifCurrentIsGone(saved, hashes), ...ofOthers(saved, hashes, userName)];
  return { state, findings };
}

/** All passwords are those that the first rotation replaces. */
function beforeFirstRotation(saved: State, listed: AclUser): Learned {
  const { user } = saved.memory;
  const passwordCount = formerHashes(saved, listed).length;
  const memory = { ...saved.memory, user: user && { ...user, passwordCount } };
  const findings = passwordsOf(memory).map(({ text, isWarning }): Finding => {
    return { kind: isWarning ? "warning" : "note", why: text };
  });
  return { state: { ...saved, memory }, findings };
}

/** What is said of a user's passwords until its first rotation: an application may use more than one of them. */
export function passwordsOf({ user }: Memory): Message[] {
  const count = user?.passwordCount;
  if (count === undefined) return [];
  if (count === 0) return [{ text: "the user has no password." }];
  if (count === 1) {
    const text =
      "the user has 1 password that Rekey did not make. The first retirement removes it.";
    return [{ text }];
  }
  const text = `the user has ${count} passwords that Rekey did not make. The first retirement removes all of them: find out first which clients use them.`;
  return [{ text, isWarning: true }];
}

function ifCurrentIsGone({ memory }: State, hashes: readonly string[]): Finding[] {
  const hash = memory.user?.hash;
  if (hash === undefined || hashes.includes(hash)) return [];
  const why =
    "the user does not have the current password any more: someone else has removed it, or the server was restarted without an ACL file. It is not added again. Set a new version, which adds a new one.";
  return [{ kind: "warning", why }];
}

function ofOthers({ memory }: State, hashes: readonly string[], userName: string): Finding[] {
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
