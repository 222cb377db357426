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

/** What someone else does. */
export const othersDo = ["adds", "retires", "replaces"] as const;
export type OthersDo = (typeof othersDo)[number];

/** Where a secret is of which two may be valid, as it is there. */
export abstract class OverlapAccount {
  phase: Phase = "other";
  /** The changes of this step, in order, whether or not they were applied. */
  readonly sent: Change[] = [];
  /** Values that others have added. */
  readonly ofOthers = new Set<string>();
  /** Values that others have removed. */
  readonly removedByOthers = new Set<string>();
  /** Values that a proof has accepted in this step. */
  readonly proven = new Set<string>();
  #faults: Faults = noFaults;
  /** What someone else does right after an addition. */
  #meanwhile: OthersDo | undefined;
  readonly #turns = new Map<RequestName, number>();

  /** The values that are accepted now. */
  abstract readonly valid: ReadonlySet<string>;
  /** What a run uses of it. */
  abstract partsFor(): Partial<Platform>;
  protected abstract change(what: OthersDo): void;

  begin(given: Faults, meanwhile?: OthersDo): void {
    this.#faults = given;
    this.#meanwhile = meanwhile;
    this.#turns.clear();
    this.sent.length = 0;
    this.proven.clear();
  }

  /** Someone else changes it. */
  changeByOthers(what: OthersDo): void {
    const before = this.valid;
    this.change(what);
    for (const value of this.valid) if (!before.has(value)) this.ofOthers.add(value);
    for (const value of before) if (!this.valid.has(value)) this.removedByOthers.add(value);
  }

  /** Someone removes passwords by hand, as a message says. */
  removeByHand?(values: readonly string[]): void;

  async prove(value: string): Promise<ProbeResult> {
    if (this.#nextFault("proof") !== "none") return { kind: "unknown", why: "no response" };
    if (!this.valid.has(value)) return { kind: "refused", words: "WRONGPASS no" };
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
    else this.#current = this.#next ?? this.#current;
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

/** A user of a Redis. */
export class UserAccount extends OverlapAccount {
  readonly #user: FakeAclUsers;
  readonly #values = new Map<string, string>();
  #made = 0;

  constructor(private readonly settings: () => { readonly server: Server; readonly canSave: boolean }) {
    super();
    this.#user = new FakeAclUsers([this.#make(), this.#make()]);
    for (const value of this.valid) this.ofOthers.add(value);
    this.#user.instead = {
      make: () => ({ value: this.#make(), isToken: settings().server !== "plain" }),
      save: () => (settings().canSave ? "saved" : "no file"),
    };
  }

  get valid(): ReadonlySet<string> {
    return new Set(this.#user.hashes.map((hash) => this.#values.get(hash) ?? hash));
  }

  partsFor(): Partial<Platform> {
    const { server } = this.settings();
    this.#user.hashOfToken = server === "makes tokens with other hashes" ? otherHashOf : hashOf;
    const user = this.#user;
    const users: Pick<AclUsers, keyof AclUsers> = {
      read: async () => this.request("read", () => user.read()),
      readServer: async () => this.request("make", () => user.readServer()),
      make: async () => this.request("make", () => user.make()),
      add: async (name, made) => this.request("add", () => user.add(name, made)),
      remove: async (name, hash) => this.request("retire", () => user.remove(name, hash)),
      save: async () => this.request("save", () => user.save()),
      prove: (_name, value) => this.prove(value),
    };
    return { aclUsers: () => users as AclUsers };
  }

  override removeByHand(values: readonly string[]): void {
    this.#user.hashes = this.#user.hashes.filter((hash) => !values.includes(this.#values.get(hash) ?? ""));
  }

  /** The oldest one is retired, the newest one replaced. */
  protected change(what: OthersDo): void {
    const { hashes } = this.#user;
    const added = what === "retires" ? [] : [hashOf(this.#make())];
    const kept = { adds: hashes, retires: hashes.slice(1), replaces: hashes.slice(0, -1) }[what];
    this.#user.hashes = [...kept, ...added];
  }

  #make(): string {
    const value = `value-user-${++this.#made}-p`;
    for (const hash of [hashOf(value), otherHashOf(value)]) this.#values.set(hash, value);
    return value;
  }
}

const otherHashOf = (value: string) => hashOf(`salted ${value}`);
