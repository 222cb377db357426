import { type AclUser, hashOf, nameInCommand, type ServerFacts } from "../../clients/aclReplies";
import { type AclUsers, type MadePassword } from "../../clients/aclUsers";
import { type ProbeResult } from "../../clients/probe";
import { RefusedError, RekeyError } from "../../domain/errors";
import { ownerOf, secretOf } from "../../domain/secretKind";
import { redisAdminOf, withAdmin } from "../admin";
import { adopted } from "../afterRead";
import { type Desired } from "../desired";
import { type Finding, type Learned } from "../findings";
import { type State } from "../state";
import { afterUserRead, formerHashes, hashInList, unknownHash } from "./userEvidence";
import {
  type Added,
  type OverlapSource,
  type Retired,
  type Retirement,
  type SourceContext,
} from "./source";

/** A user of a Redis: it has a list of passwords, each of which the server accepts, and shows as its hash. */
export class UserSource implements OverlapSource {
  #users: Promise<AclUsers> | undefined;
  #user: AclUser | undefined;

  constructor(private readonly of: SourceContext) {}

  async read(saved: State | undefined, desired: Desired): Promise<Learned> {
    const { run, context } = this.of;
    const user = await this.#readUser();
    const { state } = saved ? { state: saved } : adopted(desired, undefined, context);
    const learned = afterUserRead(withAdmin(state, desired, run), user, this.of.subject.id);
    if (saved) return learned;
    const why = "a Redis shows only hashes of passwords";
    return { ...learned, findings: [{ kind: "adopted", why }, ...learned.findings] };
  }

  async add(state: State): Promise<Added> {
    const { id } = this.of.subject;
    const { memory } = state;
    const users = await this.#connect();
    const before = this.#user ?? (await this.#readUser());
    const made = await users.make(id);
    const warnings = made.isToken ? [] : this.#warningsOf(await users.readServer());
    // What no rotation has handed out goes first.
    if (memory.added?.hash !== undefined) await users.remove(id, memory.added.hash);
    this.#claim(hashOf(made.value));
    const lost = await this.#addSettled(users, made, before);
    const hashes = formerHashes(state, before);
    const saved = await this.#save(users);
    const hash = await this.#hashOf(made, before);
    if (hash !== undefined) this.#claim(hash);
    return {
      credentials: { password: made.value, ...(made.isToken && { restToken: made.value }) },
      before: memory.current,
      hashes,
      // If the reply was lost, what is new in the list may be someone else's.
      unprovenHash: lost ? hashOf(made.value) : hash,
      hash,
      lost,
      failure: saved.failure,
      findings: [...warnings, ...saved.findings, ...(hash === undefined ? [unknownHash(id)] : [])],
    };
  }

  async prove({ credentials }: Added): Promise<ProbeResult> {
    const users = await this.#connect();
    return users.prove(this.of.subject.id, credentials.password ?? "");
  }

  async save(): Promise<RekeyError | undefined> {
    return (await this.#save(await this.#connect())).failure;
  }

  async retire({ hashes, current }: Retirement): Promise<Retired> {
    const { id } = this.of.subject;
    const users = await this.#connect();
    const user = await this.#list();
    // Its clients may use the former one again: what was read says that the current one is gone.
    if (current !== undefined && !user?.hashes.includes(current)) return { result: "kept" };
    const valid = hashes.filter((hash) => user?.hashes.includes(hash));
    for (const [removed, hash] of valid.entries()) {
      await users.remove(id, hash).catch(async (error: unknown) => {
        // A restart of the server must not bring back those that are gone.
        if (removed > 0) await this.#save(users);
        throw error;
      });
    }
    const { failure } = await this.#save(users);
    return { result: valid.length > 0 ? "now" : "already", failure };
  }

  #connect(): Promise<AclUsers> {
    const { place, subject, run } = this.of;
    return (this.#users ??= redisAdminOf(place.admin, subject, run).then((one) =>
      run.platform.aclUsers(one),
    ));
  }

  /** @throws RekeyError if another resource of the run rotates the same user, by another name of its server */
  async #list(): Promise<AclUser | undefined> {
    const { subject, run } = this.of;
    const user = await (await this.#connect()).read(subject.id);
    const own = ownerOf(subject);
    const owners = user?.hashes.map((hash) =>
      run.shared.addedPasswords.get(passwordKey(subject.id, hash)),
    );
    const other = owners?.find((owner) => owner !== undefined && owner !== own);
    if (other === undefined) return user;
    const text = `${own} is also ${other}, to which another resource of this run has added a password: each would retire the password that the other has added. No password of ${own} was added or removed. Remove one of the resources. If both have rotated it, set a new version on the one that stays.`;
    throw new RekeyError("REKEY_DUPLICATE_SECRET", text, "not sent");
  }

  /** A password that this run adds belongs to this user, by this name of its server. */
  #claim(hash: string): void {
    const { subject, run } = this.of;
    run.shared.addedPasswords.set(passwordKey(subject.id, hash), ownerOf(subject));
  }

  /** @throws RekeyError for a user to which no password can be added without harm */
  async #readUser(): Promise<AclUser> {
    const { id } = this.of.subject;
    const user = await this.#list();
    if (!user) {
      return this.#refuse(
        `${ownerOf(this.of.subject)} does not exist. Create it with its rules, for example \`ACL SETUSER ${nameInCommand(id)} on ~* +@read\``,
      );
    }
    if (!user.isOn) {
      return this.#refuse(
        `the user is off, so no password is accepted. Switch it on: \`ACL SETUSER ${nameInCommand(id)} on\``,
      );
    }
    if (user.hasNoPassword) {
      return this.#refuse(
        `the user needs no password (nopass). Once it has one, the server refuses every client that sends none. Give all its clients a password first: from \`ACL SETUSER ${nameInCommand(id)} ><password>\` on, which removes nopass, they need it`,
      );
    }
    return (this.#user = user);
  }

  #refuse(why: string): never {
    const secret = secretOf(this.of.subject);
    throw new RefusedError("REKEY_REJECTED", { secret, why, overlaps: true });
  }

  /** Users are neither replicated nor shared by the nodes of a cluster. */
  #warningsOf(server: ServerFacts | "not permitted"): Finding[] {
    if (server === "not permitted") {
      const why =
        "Rekey cannot check whether the server has replicas, is a replica or is in a cluster, because the admin may not use INFO. Users are not replicated.";
      return [{ kind: "warning", why }];
    }
    if (server.isCluster) {
      this.#refuse(
        "the server is a node of a cluster, whose nodes do not share users. Use a server without a cluster",
      );
    }
    if (server.isSentinel) {
      this.#refuse(
        "the server is a Sentinel, which has users of its own. Use the address of the primary that it watches",
      );
    }
    if (server.isReplica) {
      this.#refuse("the server is a replica, and users are not replicated. Use its primary");
    }
    if (server.replicas === 0) return [];
    const why = `the server has replicas (${server.replicas}). Users are not replicated, so the replicas do not accept the new password, nor will the server after a failover to one of them. Set it there, too.`;
    return [{ kind: "warning", why }];
  }

  /**
   * If the reply was lost, and the user is read without it, the same one is added again.
   *
   * @returns why it is unknown whether it was added: a proof shows it
   */
  async #addSettled(
    users: AclUsers,
    made: MadePassword,
    before: AclUser,
  ): Promise<RekeyError | undefined> {
    const lost = await this.#addOnce(users, made);
    if (!lost) return undefined;
    const user = await users.read(this.of.subject.id).catch(() => undefined);
    const isMissing = user && !hashInList(hashOf(made.value), before.hashes, user.hashes);
    return isMissing ? this.#addOnce(users, made).catch(() => lost) : lost;
  }

  async #addOnce(users: AclUsers, made: MadePassword): Promise<RekeyError | undefined> {
    try {
      await users.add(this.of.subject.id, made);
      return undefined;
    } catch (error) {
      if (error instanceof RekeyError && error.delivery === "maybe applied") return error;
      throw error;
    }
  }

  /** The hash by which the server knows a new password; undefined if that is not certain. */
  async #hashOf({ value, isToken }: MadePassword, before: AclUser): Promise<string | undefined> {
    const own = hashOf(value);
    if (!isToken) return own;
    const users = await this.#connect();
    const read = () => users.read(this.of.subject.id);
    const user = await read()
      .catch(read)
      .catch(() => undefined);
    return user && hashInList(own, before.hashes, user.hashes);
  }

  async #save(users: AclUsers): Promise<Pick<Added, "failure"> & { findings: Finding[] }> {
    const save = () => users.save();
    try {
      // A second one changes nothing.
      const why = whyNotSaved[await save().catch(ifLost(save))];
      return { findings: why === undefined ? [] : [{ kind: "warning", why }] };
    } catch (error) {
      if (!(error instanceof RekeyError)) throw error;
      return { failure: error, findings: [] };
    }
  }
}

function passwordKey(userName: string, hash: string): string {
  return JSON.stringify([userName, hash]);
}

/** Acts once more if it is not known whether it was done. */
function ifLost<T>(act: () => Promise<T>): (error: unknown) => Promise<T> {
  return (error) => {
    if (error instanceof RekeyError && error.delivery !== "rejected") return act();
    throw error;
  };
}

const whyNotSaved: Readonly<Record<Awaited<ReturnType<AclUsers["save"]>>, string | undefined>> = {
  saved: undefined,
  "no file":
    "the server has no ACL file, so a restart undoes this change. Set `aclfile` in its configuration, or run `CONFIG REWRITE` after each rotation.",
  "not permitted":
    "the admin may not use ACL SAVE. If the server has an ACL file, a restart undoes this change: allow it (+acl|save), or run `ACL SAVE`.",
};
