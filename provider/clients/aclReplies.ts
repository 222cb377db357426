import { createHash } from "node:crypto";
import { type Reply } from "./redisConnection";

/** The user that logs in without a name. */
export const defaultUser = "default";

/** A user of a Redis server, as `ACL GETUSER` shows it. */
export interface AclUser {
  /** It may log in. */
  readonly isOn: boolean;
  /** It may log in with any password (`nopass`). */
  readonly hasNoPassword: boolean;
  /** The SHA-256 of each password that is accepted, in lower-case hex. */
  readonly hashes: readonly string[];
}

/** The SHA-256 in lower-case hex, by which a Redis knows a password, and the queue a next token. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** How a server is connected with others, which do not have its users. */
export interface ServerFacts {
  readonly isReplica: boolean;
  readonly isCluster: boolean;
  readonly isSentinel: boolean;
  /** Number of replicas that are connected. */
  readonly replicas: number;
}

/** The user in the reply to `ACL GETUSER`; undefined if that is not a list of names and values with the needed ones. */
export function userIn(reply: Reply): AclUser | undefined {
  if (!Array.isArray(reply)) return undefined;
  const valueOf = (name: string): unknown =>
    reply[reply.findIndex((one, at) => at % 2 === 0 && one === name) + 1];
  const [flags, passwords] = [valueOf("flags"), valueOf("passwords")];
  if (!isListOf(/./, flags) || !isListOf(/^[\da-f]{64}$/i, passwords)) return undefined;
  return {
    isOn: flags.includes("on"),
    hasNoPassword: flags.includes("nopass"),
    hashes: passwords.map((hash) => hash.toLowerCase()),
  };
}

function isListOf(form: RegExp, value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string" && form.test(one));
}

/** @param info the reply to `INFO` */
export function serverIn(info: string): ServerFacts {
  const lines = info.split(/\r?\n/);
  const valueOf = (name: string) =>
    lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1);
  return {
    isReplica: ["slave", "replica"].includes(valueOf("role") ?? ""),
    isCluster: valueOf("cluster_enabled") === "1",
    isSentinel: valueOf("redis_mode") === "sentinel",
    replicas: Number(valueOf("connected_slaves") ?? 0),
  };
}

/** Advice, by the beginning of the error. */
const adviceByError: readonly (readonly [RegExp, string])[] = [
  [/^NOAUTH\b/, "Check the admin's name and password."],
  [
    /^READONLY\b/,
    "The server is a replica, and users are not replicated: use the address of its primary.",
  ],
  [
    /^(MOVED|CLUSTERDOWN)\b/,
    "The server is a node of a cluster, whose nodes do not share users: use a server without a cluster.",
  ],
  [/^(LOADING|BUSY|MASTERDOWN)\b/, "Wait until the server is ready, then run again."],
];

/**
 * Advice on the error that a Redis replied to a command.
 *
 * @param userName of the user that the command is about
 */
export function adviceOnReply(error: string, command: string, userName?: string): string {
  if (/^NOPERM\b/.test(error)) {
    return `Permit the admin the command (+${command.toLowerCase().replace(" ", "|")}), then run again.`;
  }
  const found = adviceByError.find(([begins]) => begins.test(error));
  if (found) return found[1];
  return userName === defaultUser
    ? "If the server does not let ACL commands change its user default, use PasswordRotation, which resets the password of that user of a database."
    : "Fix what the server reports, then run again.";
}
