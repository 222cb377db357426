import { createHash } from "node:crypto";
import { hashOf } from "../../provider/clients/aclReplies";
import { type AclUsers } from "../../provider/clients/aclUsers";
import { type ProbeResult } from "../../provider/clients/probe";
import { type NextTokens } from "../../provider/platform/nextTokens";
import { type Credentials } from "../../provider/records/fields";
import { type SecretResponse } from "../../provider/records/response";
import { type Platform } from "../../provider/run/run";
import { FakeAclUsers } from "../support/fakeAclUsers";
import { conflicting, type FakeRun, notSent, rejected, unconfirmed } from "../support/fakeRun";

/** What a run sends. Of these, the source is changed by `changes`. */
export const requests = ["read", "make", "add", "proof", "retire", "reset", "save"] as const;
export type RequestName = (typeof requests)[number];
const changes: readonly RequestName[] = ["add", "retire", "reset"];

/** What happens to a request. */
export const faults = ["none", "not sent", "rejected", "lost before", "lost after"] as const;
type Fault = (typeof faults)[number];

/** The faults of a step, for each request of a name in turn. */
export type Faults = Readonly<Record<RequestName, readonly Fault[]>>;

export const noFaults = Object.fromEntries(requests.map((name) => [name, ["none"]])) as unknown as Faults;

/** What a step is doing. Only an `up` has more than one phase. */
export type Phase = "preview" | "rotation" | "verification" | "other";

/** A change that was sent, and what it changed. */
export interface Change {
  readonly phase: Phase;
  readonly request: RequestName;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** What someone else does, by what it happens to: a server restarts with its last file. */
export const othersDo = {
  QueueTokenRotation: ["adds", "retires", "replaces", "loses"],
  AclUserRotation: ["adds", "retires", "replaces", "brings back", "restarts"],
} as const;
export type OthersDo = (typeof othersDo)[keyof typeof othersDo][number];

/** Where a secret is of which two may be valid, as it is there. */
export abstract class OverlapAccount {
  phase: Phase = "other";
  /** The changes of this step, in order, whether or not they were applied. */
  readonly sent: Change[] = [];
  /** Values that others have added. */
  readonly ofOthers = new Set<string>();
  /** Values that others have removed, and values that are valid again, which Rekey had removed. */
  readonly removedByOthers = new Set<string>();
  readonly back = new Set<string>();
  /** Values that a proof has accepted in this step. */
  readonly proven = new Set<string>();
  /** Whether a rotation has read it in this step. */
  isRead = false;
  #faults: Faults = noFaults;
  /** What someone else does right after an addition. */
  #meanwhile: OthersDo | undefined;
  readonly #turns = new Map<RequestName, number>();
  /** All that was ever valid. */
  readonly #seen = new Set<string>();

  /** The values that are accepted now, at any server. */
  abstract readonly valid: ReadonlySet<string>;
  /** Those that a server accepts. */
  abstract validAt(host: string | undefined): ReadonlySet<string>;
  /** Of a user: the value that a server lists by a hash. */
  valueBy?(hash: string): string | undefined;
  /** What a run uses of it. */
  abstract partsFor(): Partial<Platform>;
  protected abstract change(what: OthersDo): void;

  begin(given: Faults, meanwhile?: OthersDo): void {
    this.#faults = given;
    this.#meanwhile = meanwhile;
    this.#turns.clear();
    this.sent.length = 0;
    this.proven.clear();
    this.isRead = false;
  }

  /** Someone else changes it. */
  changeByOthers(what: OthersDo): void {
    const before = this.valid;
    this.change(what);
    for (const value of this.valid) {
      if (before.has(value)) continue;
      this.removedByOthers.delete(value);
      (this.#seen.has(value) ? this.back : this.ofOthers).add(value);
    }
    for (const value of before) if (!this.valid.has(value)) this.removedByOthers.add(value);
    for (const value of this.valid) this.#seen.add(value);
  }

  /** Someone removes passwords by hand, as a message says. */
  removeByHand?(values: readonly string[]): void;

  async prove(value: string, host?: string): Promise<ProbeResult> {
    if (this.#nextFault("proof") !== "none") return { kind: "unknown", why: "no response" };
    if (!this.validAt(host).has(value)) return { kind: "refused", words: "WRONGPASS no" };
    this.proven.add(value);
    return { kind: "accepted" };
  }

  /** Sends a request, unless a fault prevents it. What it does to the values, it does at once. */
  protected request<T>(request: RequestName, act: () => T): T {
    const fault = this.#nextFault(request);
    const before = this.valid;
    const isApplied = fault === "none" || fault === "lost after";
    const result = isApplied ? act() : undefined;
    const { valid } = this;
    const added = [...valid].filter((value) => !before.has(value));
    const removed = [...before].filter((value) => !valid.has(value));
    for (const value of added) this.#seen.add(value);
    for (const value of removed) {
      this.#seen.add(value);
      this.back.delete(value);
    }
    this.isRead ||= request === "read" && this.phase === "rotation" && fault === "none";
    if (changes.includes(request)) this.sent.push({ phase: this.phase, request, added, removed });
    if (request === "add" && isApplied && this.#meanwhile) this.changeByOthers(this.#meanwhile);
    if (fault === "not sent") return notSent();
    if (fault === "rejected") return rejected();
    return fault === "none" ? (result as T) : unconfirmed();
  }

  #nextFault(request: RequestName): Fault {
    const turn = this.#turns.get(request) ?? 0;
    this.#turns.set(request, turn + 1);
    const all = this.#faults[request];
    return all[turn % all.length] ?? "none";
  }
}

/** A user of the queue: each number is a pair of tokens. */
export class QueueAccount extends OverlapAccount {
  #made = 1;
  #current = 1;
  #next: number | undefined;

  constructor(fake: FakeRun) {
    super();
    fake.readDatabase = () => this.request("read", () => this.#shown());
    fake.answer = () => {
      const reset = () => {
        this.#current = ++this.#made;
        this.#next = undefined;
        return this.#shown();
      };
      return this.request("reset", reset);
    };
  }

  get valid(): ReadonlySet<string> {
    return new Set([this.#current, ...(this.#next === undefined ? [] : [this.#next])].map((nth) => tokenOf(nth)));
  }

  validAt(): ReadonlySet<string> {
    return this.valid;
  }

  /** What the platform shows as the user's token. */
  get token(): string {
    return tokenOf(this.#current);
  }

  partsFor(): Partial<Platform> {
    const nextTokens: Pick<NextTokens, "prepare" | "roll"> = {
      prepare: async () => this.request("add", () => pairOf((this.#next ??= ++this.#made))),
      roll: async (_id, hash) => this.request("retire", () => this.#roll(hash)),
    };
    return { nextTokens: nextTokens as NextTokens };
  }

  protected change(what: OthersDo): void {
    if (what === "adds") this.#next ??= ++this.#made;
    else if (what === "replaces") this.#current = ++this.#made;
    else if (what === "retires") this.#current = this.#next ?? this.#current;
    if (what !== "adds") this.#next = undefined;
  }

  #shown(): Partial<SecretResponse> {
    const otherFields = JSON.stringify({ has_next_token: this.#next !== undefined });
    return { record: {}, credentials: pairOf(this.#current), otherFields };
  }

  #roll(hash: string): void {
    const next = this.#next;
    if (next === undefined || sha256(tokenOf(next)) !== hash) return conflicting();
    this.#current = next;
    this.#next = undefined;
  }
}

const tokenOf = (nth: number) => `value-queue-${nth}-t`;
const pairOf = (nth: number): Credentials => ({ token: tokenOf(nth), readOnlyToken: `value-queue-${nth}-r` });
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** How a server makes passwords, and lists them. */
export const servers = ["plain", "makes tokens", "makes tokens with other hashes"] as const;
export type Server = (typeof servers)[number];

/** The hosts at which a user may be: two names of one server, and another server. */
export const hosts = ["redis.example.com", "tunnel.example.com", "elsewhere.example.com"] as const;
export type Host = (typeof hosts)[number];

/** The users of one name at two Redis servers. */
export class UserAccount extends OverlapAccount {
  readonly #values = new Map<string, string>();
  #made = 0;
  readonly #home = this.#newUser();
  readonly #elsewhere = this.#newUser();

  constructor(
    private readonly settings: () => { readonly server: Server; readonly canSave: boolean; readonly host: Host },
  ) {
    super();
    for (const value of this.valid) this.ofOthers.add(value);
  }

  get valid(): ReadonlySet<string> {
    return new Set([...this.#valuesOf(this.#home), ...this.#valuesOf(this.#elsewhere)]);
  }

  validAt(host: string = this.settings().host): ReadonlySet<string> {
    return new Set(this.#valuesOf(this.#userAt(host)));
  }

  override valueBy(hash: string): string | undefined {
    return this.#values.get(hash);
  }

  partsFor(): Partial<Platform> {
    const usersAt = (host: string): Pick<AclUsers, keyof AclUsers> => {
      const user = this.#userAt(host);
      user.hashOfToken = this.settings().server === "makes tokens with other hashes" ? otherHashOf : hashOf;
      return {
        read: async () => this.request("read", () => user.read()),
        readServer: async () => this.request("make", () => user.readServer()),
        make: async () => this.request("make", () => user.make()),
        add: async (name, made) => this.request("add", () => user.add(name, made)),
        remove: async (name, hash) => this.request("retire", () => user.remove(name, hash)),
        save: async () => this.request("save", () => user.save()),
      };
    };
    return { aclUsers: ({ host }) => usersAt(host) as AclUsers };
  }

  override removeByHand(values: readonly string[]): void {
    const user = this.#userAt(this.settings().host);
    user.hashes = user.hashes.filter((hash) => !values.includes(this.#values.get(hash) ?? ""));
  }

  /** The oldest one is retired, the newest one replaced, and the last one that was removed is added again. */
  protected change(what: OthersDo): void {
    const user = this.#userAt(this.settings().host);
    const { hashes, file, removed } = user;
    const last = removed.at(-1);
    const to: Partial<Record<OthersDo, readonly string[]>> = {
      adds: [...hashes, hashOf(this.#make())],
      retires: hashes.slice(1),
      replaces: [...hashes.slice(0, -1), hashOf(this.#make())],
      "brings back": last === undefined || hashes.includes(last) ? hashes : [...hashes, last],
      restarts: file,
    };
    user.hashes = [...(to[what] ?? hashes)];
  }

  #userAt(host: string) {
    return host.startsWith("elsewhere") ? this.#elsewhere : this.#home;
  }

  #valuesOf({ hashes }: FakeAclUsers): string[] {
    return hashes.map((hash) => this.#values.get(hash) ?? hash);
  }

  #newUser(): SavingUser {
    const user: SavingUser = new SavingUser([this.#make(), this.#make()]);
    user.instead = {
      make: () => ({ value: this.#make(), isToken: this.settings().server !== "plain" }),
      save: () => {
        if (!this.settings().canSave) return "no file";
        user.file = user.hashes;
        return "saved";
      },
    };
    return user;
  }

  #make(): string {
    const value = `value-user-${++this.#made}-p`;
    for (const hash of [hashOf(value), otherHashOf(value)]) this.#values.set(hash, value);
    return value;
  }
}

/** What a restart brings back: the last file, and what was removed by Rekey. */
class SavingUser extends FakeAclUsers {
  file: readonly string[] = this.hashes;
  readonly removed: string[] = [];

  override remove(userName: string, hash: string): Promise<void> {
    if (this.hashes.includes(hash)) this.removed.push(hash);
    return super.remove(userName, hash);
  }
}

const otherHashOf = (value: string) => hashOf(`salted ${value}`);
