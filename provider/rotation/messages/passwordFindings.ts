import { nameInCommand } from "../../domain/secretKind";
import { type Memory } from "../memory/memory";
import { type Finding } from "./findings";

/** An application may use the passwords that a user has before its first rotation; later ones, Rekey never retires. */
export function passwordFindings({ kindFacts }: Memory, userName: string): Finding[] {
  const { passwordCount: count, unknown = [], hash = "" } = kindFacts;
  if (count === 0) return [{ kind: "noPassword" }];
  if (count === 1) return [{ kind: "onePassword" }];
  if (count !== undefined) return [{ kind: "passwords", why: `${count}` }];
  if (unknown.length === 0) return [];
  const name = nameInCommand(userName);
  const [passwords, them] =
    unknown.length === 1 ? ["1 password", "it"] : [`${unknown.length} passwords`, "them"];
  const why = `as of the last read, the user has ${passwords} that Rekey does not know and never retires: someone else has added ${them}, or a run was killed before it could save ${them}. \`ACL GETUSER ${name}\` lists their hashes, and \`ACL SETUSER ${name} !<hash>\` removes one: what begins with ${unknown.join(", ")}. Keep the current one, ${beginning(hash)}. A refresh reads them again.`;
  return [{ kind: "warning", why }];
}

/** Enough of a hash to find it in a list. */
export function beginning(hash: string): string {
  return hash.slice(0, 12);
}

/** A password whose hash is not known cannot be retired. */
export function unknownHash(userName: string): Finding {
  const why = `Rekey is not certain which of the user's hashes is that of the current password, so the next rotation does not retire it: it stays valid. After that rotation, find its hash with \`ACL GETUSER ${nameInCommand(userName)}\`, and remove it with \`ACL SETUSER ${nameInCommand(userName)} !<hash>\`.`;
  return { kind: "warning", why };
}
