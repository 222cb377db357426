import { errorReply, type Reply } from "./resp";
import { hashOf, newSecret } from "./secrets";

/** The user of a database's own password, which ACL commands cannot change. */
export const defaultUser = "default";

interface User {
  readonly isOn: boolean;
  /** SHA-256 hashes of the passwords that are accepted. */
  readonly passwords: readonly string[];
  /** The rules on commands since the last one on all of them: `["-@all", "+ping"]`. */
  readonly commands: readonly string[];
  readonly keys: readonly string[];
  readonly channels: readonly string[];
}

const newUser: User = { isOn: false, passwords: [], commands: ["-@all"], keys: [], channels: [] };
const anyCommand = { isOn: true, commands: ["+@all"], keys: ["~*"], channels: ["&*"] };

/** What a rule may name each command of the platform by. */
const namesOf = {
  ping: ["@all", "@connection", "@fast", "ping"],
  acl: ["@all", "@admin", "@dangerous", "@slow", "acl"],
};

interface AclCommand {
  /** Least and largest number of arguments. */
  readonly args: readonly [number, number];
  readonly run: (args: readonly string[], caller: string) => Reply;
}

/** A rule that cannot be applied. Its message is the reason. */
class RuleError extends Error {}

/**
 * The users of one database, as at the vendor: their passwords are tokens that `ACL GENTOKEN` makes. Texts have one
 * character per byte.
 */
export class AclUsers {
  readonly #users = new Map<string, User>();
  /** The SHA-256 hashes of all tokens that were made for a user, who need not exist yet. */
  readonly #tokens = new Map<string, Set<string>>();

  constructor() {
    this.setDefaultPasswords([]);
  }

  setDefaultPasswords(passwords: readonly string[]): void {
    this.#users.set(defaultUser, { ...anyCommand, passwords });
  }

  /** Removes all users but the default one. */
  removeAll(): void {
    for (const name of this.#users.keys()) this.#remove(name);
    this.#tokens.clear();
  }

  /** Whether a password opens a session. */
  accepts(name: string, passwordHash: string): boolean {
    const user = this.#users.get(name);
    return user !== undefined && user.isOn && user.passwords.includes(passwordHash);
  }

  /**
   * Whether a session that was opened with a password stays open. As in a Redis, it outlives the password of a user;
   * a reset, however, ends those of the default user.
   */
  keepsSession(name: string, passwordHash: string): boolean {
    return name === defaultUser ? this.accepts(name, passwordHash) : this.#users.has(name);
  }

  allows(name: string, command: keyof typeof namesOf): boolean {
    const rules = this.#users.get(name)?.commands ?? [];
    return rules.findLast((rule) => namesOf[command].includes(rule.slice(1)))?.startsWith("+") ?? false;
  }

  /** Runs an ACL command. @param caller the user who sends it */
  reply(caller: string, [subcommand, ...args]: readonly string[]): Reply {
    if (subcommand === undefined) return errorReply("ERR wrong number of arguments for 'acl' command");
    const name = subcommand.toLowerCase();
    const command = this.#commands.get(name);
    if (command === undefined) {
      return errorReply(`ERR unknown subcommand '${subcommand.slice(0, 128)}'. Try ACL HELP.`);
    }
    const [least, most] = command.args;
    if (args.length < least || args.length > most) {
      return errorReply(`ERR wrong number of arguments for 'acl|${name}' command`);
    }
    return command.run(args, caller);
  }

  readonly #commands = new Map<string, AclCommand>([
    ["whoami", { args: [0, 0], run: (_args, caller) => caller }],
    ["users", { args: [0, 0], run: () => [...this.#users.keys()].sort() }],
    ["getuser", { args: [1, 1], run: ([name = ""]) => shown(this.#users.get(name)) }],
    ["setuser", { args: [1, Infinity], run: ([name = "", ...rules]) => this.#set(name, rules) }],
    ["deluser", { args: [1, Infinity], run: (names) => this.#delete(names) }],
    ["gentoken", { args: [1, 2], run: ([name = "", password]) => this.#makeToken(name, password) }],
    // As at the vendor, which saves each change when it is made.
    ["save", { args: [0, 0], run: () => ({ status: "OK" }) }],
    ["load", { args: [0, 0], run: () => ({ status: "OK" }) }],
  ]);

  /** Applies all rules, or none of them. */
  #set(name: string, rules: readonly string[]): Reply {
    if (name === defaultUser) return errorReply("ERR The 'default' user cannot be modified");
    if (/[\s\0]/.test(name)) return errorReply("ERR Usernames can't contain spaces or null characters");
    let user = this.#users.get(name) ?? newUser;
    for (const rule of rules) {
      try {
        user = changed(user, rule, this.#tokens.get(name));
      } catch (error) {
        if (!(error instanceof RuleError)) throw error;
        return errorReply(`ERR Error in ACL SETUSER modifier '${rule}': ${error.message}`);
      }
    }
    this.#users.set(name, user);
    return { status: "OK" };
  }

  #delete(names: readonly string[]): Reply {
    if (names.includes(defaultUser)) return errorReply("ERR The 'default' user cannot be removed");
    return names.filter((name) => this.#remove(name)).length;
  }

  #remove(name: string): boolean {
    return name !== defaultUser && this.#users.delete(name);
  }

  /** A token that wraps a password, by default a new one. Each is unique, as it also identifies the database. */
  #makeToken(name: string, password = newSecret()): Reply {
    if (password.length < 16) return errorReply("ERR the password is too weak");
    const token = Buffer.from(`${newSecret(4)}:${name}:${password}`, "latin1").toString("base64url");
    this.#tokens.set(name, (this.#tokens.get(name) ?? new Set()).add(hashOf(token)));
    return token;
  }
}

/** The user after a rule. @throws RuleError */
function changed(user: User, rule: string, tokens: Set<string> | undefined): User {
  const value = rule.slice(1);
  if (rule === "on" || rule === "off") return { ...user, isOn: rule === "on" };
  if (/^[+-]@?[a-z]+$/.test(rule)) return { ...user, commands: value === "@all" ? [rule] : [...user.commands, rule] };
  switch (rule[0]) {
    case "~":
      return { ...user, keys: withOne(user.keys, rule) };
    case "&":
      return { ...user, channels: withOne(user.channels, rule) };
    case ">":
      return { ...user, passwords: withToken(user.passwords, value, tokens) };
    case "!":
      return { ...user, passwords: withoutPassword(user.passwords, value) };
    case "#":
      throw new RuleError("only tokens of ACL GENTOKEN can be added");
  }
  throw new RuleError(rule === "nopass" ? "every user must have a password" : "Syntax error");
}

function withOne(list: readonly string[], item: string): readonly string[] {
  return list.includes(item) ? list : [...list, item];
}

/** @throws RuleError */
function withToken(passwords: readonly string[], token: string, made = new Set<string>()): readonly string[] {
  const hash = hashOf(token);
  if (!made.has(hash)) throw new RuleError("it is not a token that ACL GENTOKEN made for this user");
  return withOne(passwords, hash);
}

/** @throws RuleError */
function withoutPassword(passwords: readonly string[], hash: string): readonly string[] {
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    throw new RuleError(
      "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters",
    );
  }
  if (!passwords.includes(hash)) {
    throw new RuleError("The password you are trying to remove from the user does not exist");
  }
  return passwords.filter((password) => password !== hash);
}

function shown(user: User | undefined): Reply {
  if (user === undefined) return null;
  const { isOn, passwords, commands, keys, channels } = user;
  return [
    ...["flags", [isOn ? "on" : "off"]],
    ...["passwords", passwords],
    ...["commands", commands.join(" ")],
    ...["keys", keys.join(" ")],
    ...["channels", channels.join(" ")],
    ...["selectors", []],
  ];
}
