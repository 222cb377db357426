import { randomBytes } from "node:crypto";
import {
  adviceOnReply,
  type AclUser,
  hashOf,
  serverIn,
  type ServerFacts,
  userIn,
} from "./aclReplies";
import { ConnectionError, type Connections } from "../platform/connections";
import { addressOf, type ClientEndpoint } from "../domain/endpoint";
import { RequestError, type RequestFacts } from "../domain/errors";
import { whyNotSent } from "../platform/failures";
import { notPermitted, type RequesterOptions, type RequestQueue } from "../platform/http";
import { authenticate } from "./probe";
import { quote } from "../platform/quote";
import {
  connectToRedis,
  ErrorReply,
  isOk,
  NoReplyError,
  type RedisConnection,
  type Reply,
} from "./redisConnection";

/** An administrator of a Redis server: how it logs in, and where. */
export interface RedisAdmin extends ClientEndpoint {
  /** Default: the user `default`. */
  readonly username?: string | undefined;
  readonly password: string;
}

/** A new password, which is not valid until it is added to a user. */
export interface MadePassword {
  readonly value: string;
  /** The server made it. Only such a server has a REST interface, in which it is a token. */
  readonly isToken: boolean;
}

export interface AclUsersOptions extends Omit<RequesterOptions, "resetHeaders"> {
  readonly connections: Connections;
  readonly queue: RequestQueue;
}

interface Command {
  /** With its subcommand: `ACL SETUSER` */
  readonly name: string;
  /** May contain secrets, so errors do not show them. */
  readonly args?: readonly string[];
  readonly purpose: string;
  readonly consequences?: RequestFacts["consequences"];
  /** It needs the permission `resets`, and an engine that can save the result. Default: it needs neither. */
  readonly isChange?: boolean;
  /** Errors that are returned, not thrown. Default: none. */
  readonly expected?: RegExp;
}

/**
 * Reads and changes the users of a Redis server, as an administrator. Each command is sent once, on a new connection,
 * within the deadline of a request. Only `AUTH` contains a password; a token that the server has made is also in
 * `ACL SETUSER`.
 *
 * Its methods throw a RequestError: `not sent` if no connection could be made or the administrator is refused,
 * `rejected` if the server replied with an error, and `maybe applied` without a reply that can be read. A command that
 * changes no user is `not sent` without a reply, and `responded` if it cannot be read.
 *
 * @example
 * ```ts
 * const made = await users.make("app");
 * await users.add("app", made);
 * ```
 */
export class AclUsers {
  constructor(
    private readonly admin: RedisAdmin,
    private readonly options: AclUsersOptions,
  ) {
    options.secrets.add([admin.password]);
  }

  /** Undefined if there is no such user. */
  async read(userName: string): Promise<AclUser | undefined> {
    const command = {
      name: "ACL GETUSER",
      args: [userName],
      purpose: `read ${this.#nameOf(userName)}`,
    };
    const reply = await this.#send(command);
    if (reply === undefined) return undefined;
    const user = userIn(reply);
    if (!user) throw this.#unreadable(command);
    return user;
  }

  /** How the server is connected with others; `not permitted` if the administrator may not read it. */
  async readServer(): Promise<ServerFacts | "not permitted"> {
    const command: Command = {
      name: "INFO",
      purpose: "read the server's role",
      expected: /^NOPERM\b/,
    };
    const reply = await this.#send(command);
    if (reply instanceof ErrorReply) return "not permitted";
    if (typeof reply !== "string") throw this.#unreadable(command);
    return serverIn(reply);
  }

  /** Makes a password. The server makes it if it makes tokens, which changes no user. */
  async make(userName: string): Promise<MadePassword> {
    const command: Command = {
      name: "ACL GENTOKEN",
      args: [userName],
      purpose: `make a token for ${this.#nameOf(userName)}`,
      isChange: true,
      expected: noTokens,
    };
    const reply = await this.#send(command);
    const isToken = typeof reply === "string" && tokenForm.test(reply);
    const value = isToken ? reply : randomBytes(32).toString("base64url");
    this.options.secrets.add([value]);
    return { value, isToken };
  }

  /** Adds a password to those that a user has. Adding the same one again changes nothing. */
  async add(userName: string, { value, isToken }: MadePassword): Promise<void> {
    this.options.secrets.add([value]);
    await this.#change({
      name: "ACL SETUSER",
      args: [userName, isToken ? `>${value}` : `#${hashOf(value)}`],
      purpose: `add a password to ${this.#nameOf(userName)}`,
      consequences: {
        unchanged: "It was not added.",
        unknown: "It may have been added.",
      },
    });
  }

  /**
   * Removes passwords, in lower-case hex, with one command. What the server lists afterwards decides whether they are
   * gone. A server removes none if one is gone already.
   */
  async remove(userName: string, hashes: readonly string[]): Promise<void> {
    if (hashes.length === 0) return;
    const command: Command = {
      name: "ACL SETUSER",
      args: [userName, ...hashes.map((hash) => `!${hash}`)],
      purpose: `remove former passwords of ${this.#nameOf(userName)}`,
      consequences: { unchanged: "None was removed.", unknown: "They may have been removed." },
    };
    const failure = await this.#change(command).then(
      () => this.#unreadable(command, "but does not show that the password is gone"),
      (error: unknown) => error,
    );
    if (!(failure instanceof RequestError) || failure.delivery === "not sent") throw failure;
    const user = await this.read(userName).catch(() => {
      throw failure;
    });
    const left = hashes.filter((hash) => user?.hashes.includes(hash));
    if (left.length === hashes.length) throw failure;
    await this.remove(userName, left);
  }

  /** Saves the users in the server's ACL file. Without one, a restart of the server undoes changes of users. */
  async save(): Promise<"saved" | "no file" | "not permitted"> {
    const unchanged = `The users were changed, but a restart of the server undoes that until ACL SAVE succeeds.`;
    const reply = await this.#change({
      name: "ACL SAVE",
      purpose: "save the server's users",
      consequences: {
        unchanged,
        unknown: `The users were changed, but a restart of the server may undo that until ACL SAVE succeeds.`,
      },
      expected: /^NOPERM\b|not configured to use an ACL file/i,
    });
    if (!(reply instanceof ErrorReply)) return "saved";
    return reply.text.startsWith("NOPERM") ? "not permitted" : "no file";
  }

  async #change(command: Command): Promise<Reply> {
    const reply = await this.#send({ ...command, isChange: true });
    if (!isOk(reply) && !(reply instanceof ErrorReply)) throw this.#unreadable(command);
    return reply;
  }

  /** @returns the reply; an error only if it is `expected` */
  async #send(command: Command): Promise<Reply> {
    const facts = this.#factsOf(command);
    const { queue, permission, deadlineMs } = this.options;
    if (command.isChange && permission !== "resets") throw notPermitted(facts);
    return queue.run(async () => {
      const connection = await this.#logIn(facts, deadlineMs);
      try {
        if (command.isChange) await this.options.beforeSend?.(facts);
        // It may have been lost while that was checked.
        if (command.isChange && !connection.isOpen) {
          const problem = { happened: "the connection was lost", advice: checkServer };
          throw new RequestError("not sent", facts, problem);
        }
        const reply = await connection.send(command.name, ...(command.args ?? []));
        if (reply instanceof ErrorReply && !command.expected?.test(reply.text)) {
          throw this.#rejected(reply, command);
        }
        return reply;
      } catch (error) {
        if (!(error instanceof NoReplyError)) throw error;
        const problem = { happened: error.message, advice: checkServer };
        // A command that changes no user has failed, as a read does.
        throw command.consequences?.unknown === undefined
          ? new RequestError("not sent", facts, { ...problem, code: "REKEY_NOT_READ" })
          : new RequestError("maybe applied", facts, problem);
      } finally {
        connection.close();
      }
    });
  }

  async #logIn(facts: RequestFacts, timeoutMs: number): Promise<RedisConnection> {
    const { admin, options } = this;
    const connection = await connectToRedis(options.connections, admin, timeoutMs).catch(
      (error: unknown) => {
        if (!(error instanceof ConnectionError)) throw error;
        throw new RequestError("not sent", facts, whyNotSent("database", error));
      },
    );
    const credential = { username: admin.username, value: admin.password };
    const result = await authenticate(connection, credential, options.secrets);
    if (result.kind === "accepted") return connection;
    connection.close();
    const problem =
      result.kind === "refused"
        ? {
            happened: `the server refused the admin: ${result.words}`,
            advice: "Check the admin's name and password.",
          }
        : {
            happened: `the admin could not log in: ${result.why}`,
            advice: result.advice ?? checkServer,
          };
    throw new RequestError("not sent", facts, problem);
  }

  #rejected({ text }: ErrorReply, command: Command): RequestError {
    const words = quote(text, this.options.secrets);
    const happened = `the server responded with an error: ${words}`;
    const [userName] = command.args ?? [];
    return new RequestError("rejected", this.#factsOf(command), {
      happened,
      words,
      advice: adviceOnReply(text, command.name, userName),
    });
  }

  #unreadable(command: Command, what = "but its reply cannot be read"): RequestError {
    const happened = `the server responded, ${what}`;
    const delivery = command.consequences?.unknown === undefined ? "responded" : "maybe applied";
    return new RequestError(delivery, this.#factsOf(command), { happened, advice: checkServer });
  }

  #factsOf({
    name,
    purpose,
    consequences = { unchanged: "Nothing was changed." },
  }: Command): RequestFacts {
    return { purpose, method: name, url: addressOf(this.admin), consequences };
  }

  #nameOf(userName: string): string {
    return `user ${JSON.stringify(this.options.secrets.redactName(userName))}`;
  }
}

const checkServer =
  "Check that the server is running, and that it is a Redis server, then run again.";

/** The reply to `ACL GENTOKEN` of a server that makes no tokens. Redis 6.2 permits no unknown subcommand. */
const noTokens = /^(ERR unknown subcommand|NOPERM)\b/i;

/** A token, as a string in a reply to `ACL GENTOKEN`. What replies anything else does not know the command. */
const tokenForm = /^[\x21-\x7e]{20,1024}$/;
