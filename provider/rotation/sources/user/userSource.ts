import { type AclUser, hashOf, type ServerFacts } from "../../../clients/aclReplies";
import { type AclUsers, type MadePassword, type RedisAdmin } from "../../../clients/aclUsers";
import { type ProbeResult } from "../../../clients/probe";
import { RefusedError, RekeyError } from "../../../domain/errors";
import { nameInCommand, ownerOf, secretOf } from "../../../domain/secretKind";
import { onlyCredentials } from "../../../records/secretResponse";
import { isServerChanged, redisAdminOf } from "../../program/admin";
import { type Finding, type StateChange } from "../../messages/findings";
import { unknownHash } from "../../messages/passwordFindings";
import { validFormers } from "../../program/formers";
import { formerOf } from "../../lifecycle/handOver";
import { type Former, type Memory, type UserMemory, withRetired } from "../../memory/memory";
import { lateTokenMs, notAccepted, proveAccepted, unproven } from "../proof";
import {
  type Added,
  type Proof,
  type RetirableMemory,
  type Retired,
  type ReadResult,
  type Source,
  type SourceContext,
} from "../../lifecycle/source";
import { type AttemptedState, type State } from "../../memory/state";
import { afterUserRead, currentIn, hashInList } from "./userRead";

/** A user of a Redis: it has a list of passwords, each of which the server accepts, and shows as its hash. */
export class UserSource implements Source {
  #admin: Promise<RedisAdmin> | undefined;
  #users: Promise<AclUsers> | undefined;
  constructor(private readonly session: SourceContext) {}

  async read(saved: State | undefined): Promise<ReadResult> {
    const { hashes } = await this.#readUser();
    const readResult = { ...onlyCredentials({}), hashes };
    if (saved?.memory.current.marks.password === undefined) return readResult;
    const { memory, password } = saved;
    const { hash } = memory.kindFacts;
    const shown = currentIn(hashes, hash);
    if (shown === "listed") return readResult;
    // Another server may have another user of that name: it is not sent the password.
    const isOtherServer = isServerChanged(this.session.program?.admin, memory);
    if (shown === "unclear" && !isOtherServer) {
      const isToken = memory.current.marks.restToken !== undefined;
      const login = password && (await this.#tryLogin({ value: password, isToken })).kind;
      if (hashes.length > 0 && login !== "refused") return readResult;
      // The list hides all of them.
      if (login && login !== "refused") return onlyCredentials({});
    }
    const goneReason = isOtherServer
      ? "the server has another name or address than before, and its list does not show the current password of its user. Give the user of another server a resource name of its own. To rotate the user of this server in its place, set a new version: all passwords that it has there then count as former ones, and are retired"
      : "the user does not have the current password any more: someone else has removed it, or the server was restarted without an ACL file. It is not added again. Set a new version, which adds a new one";
    return { ...readResult, goneReason, isOtherServer };
  }

  afterRead(saved: State, readResult: ReadResult): StateChange {
    const { context, subject } = this.session;
    return afterUserRead(saved, readResult, context, subject.id);
  }

  async add({ memory }: AttemptedState, readResult?: ReadResult): Promise<Added> {
    const { id } = this.session.subject;
    const users = await this.#connect();
    const { hashes } = readResult ?? (await this.#readUser());
    // If the list hides them, the one that is known stays known.
    const valid = hashes ?? [memory.kindFacts.hash ?? []].flat();
    const made = await users.make(id);
    const warnings = made.isToken ? [] : this.#warningsOf(await users.readServer());
    // A password that was never handed out is removed first.
    const unproven = memory.attempt.expects;
    if (unproven !== undefined) await users.remove(id, [unproven]);
    const hashesBefore = valid.filter((one) => one !== unproven);
    const own = hashOf(made.value);
    claimPassword(this.session, own);
    const lost = await this.#addSettled(users, made, hashesBefore);
    const saved = await this.#save(users);
    const list = made.isToken && !lost ? await this.#listAgain() : undefined;
    const expects = hashOfMade(made, hashesBefore, list) ?? own;
    claimPassword(this.session, expects);
    const { value } = made;
    return {
      response: onlyCredentials({ password: value, ...(made.isToken && { restToken: value }) }),
      lost,
      unsaved: saved.failure,
      // If the reply was lost, what is new in the list may be someone else's.
      attempt: { expects },
      hashesBefore,
      ...(unproven !== undefined && {
        kindFacts: { retired: withRetired(memory.kindFacts, [unproven]) },
      }),
      findings: [...warnings, ...saved.findings],
    };
  }

  async prove(
    attempted: AttemptedState,
    { response = onlyCredentials({}), lost, hashesBefore = [] }: Added,
  ): Promise<Proof> {
    const { subject } = this.session;
    const { password = "", restToken } = response.credentials;
    const made = { value: password, isToken: restToken !== undefined };
    const proof = await this.#tryLogin(made);
    if (proof.kind !== "accepted") {
      // A refused password is not the new hash in the list: that is someone else's.
      const attempt = proof.kind === "refused" ? { expects: hashOf(password) } : undefined;
      return { failure: lost ?? notAccepted(subject, proof), delivered: {}, attempt };
    }
    const list = await this.#listAgain();
    const hash = hashOfMade(made, hashesBefore, list);
    const isNew = (one: string) =>
      hash === undefined ? !hashesBefore.includes(one) : one === hash;
    if (list && !list.some(isNew)) {
      const why =
        "the server accepts it, but does not list it, so it is unknown which of the user's passwords are valid";
      return { failure: unproven(subject, why), delivered: {} };
    }
    const formers = this.#formersAfter(attempted, hashesBefore);
    return {
      made: {
        responses: [response],
        generatedAt: attempted.memory.attempt.lastSentAt,
        formers,
        kindFacts: factsAfter(attempted.memory, formers, hash),
      },
      findings: hash === undefined ? [unknownHash(subject.id)] : [],
    };
  }

  /** Those that stay valid. The first rotation takes all that the user already has for former ones. */
  #formersAfter(attempted: AttemptedState, hashesBefore: readonly string[]): Former[] {
    const { context } = this.session;
    const { memory } = attempted;
    const former = (retireHash?: string) =>
      formerOf(attempted, context.now.toISOString(), context, retireHash);
    if (memory.current.marks.password === undefined) return hashesBefore.map(former);
    const { hash = "" } = memory.kindFacts;
    return [...validFormers(memory), former(hashesBefore.includes(hash) ? hash : undefined)];
  }

  async save(): Promise<RekeyError | undefined> {
    return (await this.#save(await this.#connect())).failure;
  }

  async retire(
    formers: readonly Former[],
    { currentHash, current }: RetirableMemory,
  ): Promise<Retired> {
    const { id } = this.session.subject;
    const users = await this.#connect();
    const { hashes = [] } = (await this.#readList()) ?? {};
    const shown = currentIn(hashes, currentHash);
    // Only the hash of a token is not certain.
    const login =
      shown === "unclear" && hashes.length > 0 && current !== undefined
        ? await this.#tryLogin({ value: current, isToken: true })
        : undefined;
    // If the current one is not valid any more, its clients may use a former one again.
    if (shown !== "listed" && login?.kind !== "accepted") {
      return { result: "kept", left: formers, failure: this.#notRetired() };
    }
    const valid = formers.filter(({ retireHash = "" }) => hashes.includes(retireHash));
    const removed = valid.map(({ retireHash = "" }) => retireHash);
    const failure = await users.remove(id, removed).then(() => undefined, failureIn);
    if (failure && failure.delivery !== "maybe applied") throw failure;
    const { failure: unsaved } = await this.#save(users);
    const left = failure ? valid : [];
    const ended = formers.filter((one) => !left.includes(one));
    const retiredHashes = ended.flatMap(({ retireHash }) => retireHash ?? []);
    return { result: valid.length > 0 ? "now" : "already", left, failure, unsaved, retiredHashes };
  }

  /** The error of former passwords that are due, while it is not known whether the current one is valid. */
  #notRetired(): RekeyError {
    const text = `The former password of ${ownerOf(this.session.subject)} was not retired: \`ACL GETUSER\` does not list the current one, so it is unknown which passwords are valid. Check that the admin reaches the server that clients use, and that it is shown the user's hashes there. If the current password was removed, set a new version, which adds one.`;
    return new RekeyError("REKEY_VERIFICATION_FAILED", text, "not sent");
  }

  #readAdmin(): Promise<RedisAdmin> {
    const { place, subject, run } = this.session;
    return (this.#admin ??= redisAdminOf(place.admin, subject, run));
  }

  #connect(): Promise<AclUsers> {
    const { platform } = this.session.run;
    return (this.#users ??= this.#readAdmin().then((admin) => platform.aclUsers(admin)));
  }

  /** A server that makes tokens may learn late of one. At any other one, a refusal is final. */
  async #tryLogin({ value, isToken }: MadePassword): Promise<ProbeResult> {
    const { host, port, tls } = await this.#readAdmin();
    const credential = { name: "password", username: this.session.subject.id, value } as const;
    return proveAccepted(this.session, { host, port, tls }, credential, isToken ? lateTokenMs : 0);
  }

  /** The hashes of the user's passwords; undefined if they cannot be read twice. */
  async #listAgain(): Promise<readonly string[] | undefined> {
    const users = await this.#connect();
    const read = () => users.read(this.session.subject.id);
    const user = await read()
      .catch(read)
      .catch(() => undefined);
    return user?.hashes;
  }

  /** @throws RekeyError if another resource of the run rotates the same user, by another name of its server */
  async #readList(): Promise<AclUser | undefined> {
    const { subject, run } = this.session;
    const user = await (await this.#connect()).read(subject.id);
    const own = ownerOf(subject);
    const owners = user?.hashes.map((hash) =>
      run.shared.passwordOwners.get(passwordKey(subject.id, hash)),
    );
    const other = owners?.find((owner) => owner !== undefined && owner !== own);
    if (other === undefined) return user;
    const text = `${own} is also ${other}, or a copy of it: it has the password that another resource of this run hands out, and each would retire that of the other. This request has added or removed none. Remove one of the resources. If both have rotated it, set a new version on the one that stays. If they are two servers, remove that password at one of them.`;
    throw new RekeyError("REKEY_DUPLICATE_SECRET", text, "not sent");
  }

  /** @throws RekeyError for a user to which no password can be added without harm */
  async #readUser(): Promise<AclUser> {
    const { id } = this.session.subject;
    const user = await this.#readList();
    if (!user) {
      return this.#refuse(
        `${ownerOf(this.session.subject)} does not exist. Create it with its rules, for example \`ACL SETUSER ${nameInCommand(id)} on ~* +@read\``,
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
    return user;
  }

  #refuse(why: string): never {
    const secret = secretOf(this.session.subject);
    throw new RefusedError("REKEY_REJECTED", { secret, why });
  }

  /** Users are neither replicated nor shared by the nodes of a cluster. */
  #warningsOf(server: ServerFacts | "not permitted"): Finding[] {
    if (server === "not permitted") {
      const why =
        "Rekey cannot check whether the server has replicas, is a replica or is in a cluster, because the admin may not use INFO. Users are not replicated.";
      return [{ kind: "warning", why }];
    }
    for (const [fact, why] of wrongServers) if (server[fact]) this.#refuse(why);
    if (server.replicas === 0) return [];
    const why = `the server has replicas (${server.replicas}). Users are not replicated, so the replicas do not accept the new password, nor will the server after a failover to one of them. Set it there, too.`;
    return [{ kind: "warning", why }];
  }

  /**
   * If the reply is lost, and the user is read without it, the same one is added again.
   *
   * @returns why it is unknown whether it was added: a proof shows it
   */
  async #addSettled(
    users: AclUsers,
    made: MadePassword,
    hashesBefore: readonly string[],
  ): Promise<RekeyError | undefined> {
    const { id } = this.session.subject;
    const add = () => users.add(id, made).then(() => undefined);
    const lost = await add().catch(failureIn);
    if (lost && lost.delivery !== "maybe applied") throw lost;
    const user = lost && (await users.read(id).catch(() => undefined));
    const isMissing =
      user && !user.hashes.includes(hashOfMade(made, hashesBefore, user.hashes) ?? "");
    return isMissing ? add().catch(() => lost) : lost;
  }

  async #save(users: AclUsers): Promise<{ failure?: RekeyError; findings: Finding[] }> {
    const save = () => users.save().catch(failureIn);
    const first = await save();
    const mayRepeat = first instanceof RekeyError && first.delivery !== "rejected";
    // A second one changes nothing.
    const saved = mayRepeat ? await save() : first;
    if (saved instanceof RekeyError) return { failure: saved, findings: [] };
    const why = whyNotSaved[saved];
    return { findings: why === undefined ? [] : [{ kind: "warning", why }] };
  }
}

/** A server that makes tokens may list them by hashes of its own. Any other one was sent the hash. */
function hashOfMade(
  { value, isToken }: MadePassword,
  before: readonly string[],
  list: readonly string[] | undefined,
): string | undefined {
  const own = hashOf(value);
  if (!isToken) return own;
  return list && hashInList(own, before, list);
}

/** Facts about a user. A current password that someone else has removed is a former one if it is back. */
function factsAfter(
  { kindFacts }: Memory,
  formers: readonly Former[],
  hash: string | undefined,
): UserMemory {
  const { hash: replaced } = kindFacts;
  const isRemoved =
    replaced !== undefined && !formers.some(({ retireHash }) => retireHash === replaced);
  return {
    hash,
    passwordCount: undefined,
    ...(isRemoved && { retired: withRetired(kindFacts, [replaced]) }),
  };
}

/** A password that a resource of this run hands out, or adds, belongs to its user, by this name of its server. */
export function claimPassword(
  { subject, run }: Pick<SourceContext, "subject" | "run">,
  hash: string,
): void {
  run.shared.passwordOwners.set(passwordKey(subject.id, hash), ownerOf(subject));
}

function passwordKey(userName: string, hash: string): string {
  return JSON.stringify([userName, hash]);
}

/** An error of Rekey's as a value, to be decided about. Others are thrown further. */
function failureIn(error: unknown): RekeyError {
  if (error instanceof RekeyError) return error;
  throw error;
}

/** Servers on which users cannot be rotated. */
const wrongServers = [
  [
    "isCluster",
    "the server is a node of a cluster, whose nodes do not share users. Use a server without a cluster",
  ],
  [
    "isSentinel",
    "the server is a Sentinel, which has users of its own. Use the address of the primary that it watches",
  ],
  ["isReplica", "the server is a replica, and users are not replicated. Use its primary"],
] as const satisfies readonly (readonly [keyof ServerFacts, string])[];

const whyNotSaved: Readonly<Record<Awaited<ReturnType<AclUsers["save"]>>, string | undefined>> = {
  saved: undefined,
  "no file":
    "the server has no ACL file, so a restart undoes this change. Set `aclfile` in its configuration, or run `CONFIG REWRITE` after each rotation.",
  "not permitted":
    "the admin may not use ACL SAVE. If the server has an ACL file, a restart undoes this change: allow it (+acl|save), or run `ACL SAVE`.",
};
