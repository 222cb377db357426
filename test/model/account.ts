import { type ProbeResult } from "../../provider/clients/probe";
import { type SecretKind } from "../../provider/domain/secretKind";
import { type CredentialName, type Credentials, valuesOf } from "../../provider/records/fields";
import { type SecretResponse } from "../../provider/records/secretResponse";
import { type Platform } from "../../provider/run/run";
import { notSent, rejected, unconfirmed } from "../support/fakeRun";
import { type Place, type Settings } from "./steps";

/** What a run sends. Of these, what is valid is changed by `changes`. */
export type RequestName = "read" | "make" | "add" | "proof" | "retire" | "reset" | "save";
const changes: readonly RequestName[] = ["add", "retire", "reset"];

export const faults = ["none", "not sent", "rejected", "lost before", "lost after"] as const;

/** How a response shows the credentials of a record. */
export const masks = ["all", "nothing", "the best", "the other"] as const;

/** What happens to a request. */
export interface Reply {
  readonly fault: (typeof faults)[number];
  readonly mask: (typeof masks)[number];
  /** Whether it shows what the last change of this step or the one before it has replaced. */
  readonly isLate: boolean;
}

/** What happens to the requests of a step, of each name in turn, and what someone else does right after a change. */
export interface Delivery {
  readonly replies: Readonly<Partial<Record<RequestName, readonly Reply[]>>>;
  readonly meanwhile?: OthersDo | undefined;
}

export const plainReply: Reply = { fault: "none", mask: "all", isLate: false };
export const honest: Delivery = { replies: {} };

/** Whether all requests are responded to in time, and no one else interferes. */
export function isHonest({ replies, meanwhile }: Delivery): boolean {
  const all = Object.values(replies).flat();
  return meanwhile === undefined && all.every(({ fault, isLate }) => fault === "none" && !isLate);
}

/** What a step is doing. Only an `up` has more than one phase. */
export type Phase = "preview" | "rotation" | "verification" | "retirement" | "deletes" | "other";

/** A change that was sent, and what it changed. */
export interface Change {
  readonly phase: Phase;
  readonly request: RequestName;
  /** Whether it was applied, or may have been, as far as its sender knows. */
  readonly mayBeApplied: boolean;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Of what was removed: what Rekey could know to be valid. */
  readonly recognized: readonly string[];
}

/** What someone else does, by the shape of a secret. */
export const othersDo = {
  replaces: ["replaces"],
  rolls: ["rolls", "rolls twice"],
  adds: ["adds", "retires", "replaces", "loses"],
  redis: ["adds", "retires", "replaces", "brings back", "restarts", "copies"],
} as const;
export type ShapeName = keyof typeof othersDo;
export type OthersDo = (typeof othersDo)[ShapeName][number];

/** One secret where it is: what is valid there, what requests do to it, and what someone else does. */
export abstract class Account {
  phase: Phase = "other";
  /** The changes of this step, in order, whether or not they were applied. */
  readonly sent: Change[] = [];
  /** Values that a proof has accepted in this step, and values that responses have delivered in it. */
  readonly proven = new Set<string>();
  readonly returned = new Set<string>();
  /** Whether a read of the rotation was responded to in this step. */
  isRead = false;
  /** Whether a response of this step has shown the best of the current credentials. */
  isCurrentShown = false;
  /** Values that reads have shown, and those of them since the last `up` began. */
  readonly shown = new Set<string>();
  readonly shownInUp = new Set<string>();
  /** The same with their names: a platform may show the current key only as the next one, before a roll. */
  readonly shownAsInUp = new Set<string>();
  /** Values that others have added, and have removed; and values that are valid again. */
  readonly ofOthers = new Set<string>();
  readonly removedByOthers = new Set<string>();
  readonly back = new Set<string>();
  protected step = 0;
  #delivery = honest;
  #known: ReadonlySet<string> = new Set();
  readonly #turns = new Map<RequestName, number>();
  readonly #wasValid = new Set<string>();

  /** The credential by which a record is compared, and its other one. */
  readonly best: CredentialName;
  readonly names: readonly CredentialName[];

  constructor(
    protected readonly kind: SecretKind,
    protected readonly id: string,
    protected readonly settings: () => Settings,
  ) {
    [this.best] = kind.identities;
    this.names = [...new Set(Object.values(kind.table.credentials))].slice(0, 2);
  }

  /** The credentials that are accepted at a place. */
  abstract credentialsAt(place: Place): readonly Credentials[];
  /** What a run uses of it, in place of a platform's operations. */
  abstract partsFor(): Partial<Platform>;
  protected abstract change(what: OthersDo): void;
  /** Of a user: the value that a server lists by a hash. */
  valueBy?(hash: string): string | undefined;
  /** Someone removes passwords by hand, as a message says. */
  removeByHand?(values: readonly string[]): void;
  /** What a read of the platform and a reset return. */
  read?(): object;
  reset?(): object;

  /** @param known values that Rekey remembers: an old record of others cannot be recognized by anyone */
  begin(delivery: Delivery, known: ReadonlySet<string>, isUp: boolean): void {
    this.#delivery = delivery;
    this.#known = known;
    this.step++;
    this.#turns.clear();
    this.sent.length = 0;
    this.isRead = this.isCurrentShown = false;
    for (const each of [this.proven, this.returned, ...(isUp ? [this.shownInUp, this.shownAsInUp] : [])]) each.clear();
  }

  /** The best credential of each that is accepted, by default where the program says that the secret is. */
  validAt(place = this.settings().place): Set<string> {
    return new Set(this.credentialsAt(place).flatMap((one) => one[this.best] ?? []));
  }

  /** All values that are accepted, by default anywhere. */
  valuesAt(places: readonly Place[] = ["home", "elsewhere"]): string[] {
    return places.flatMap((place) => this.credentialsAt(place)).flatMap(valuesOf);
  }

  /** Whether Rekey can know a value: it is remembered, or was shown. */
  recognizes(value: string | undefined): boolean {
    return value !== undefined && (this.#known.has(value) || this.shownInUp.has(value));
  }

  /** Someone else changes it. */
  changeByOthers(what: OthersDo): void {
    const before = this.validAt();
    this.change(what);
    const valid = this.validAt();
    for (const value of valid) {
      if (before.has(value)) continue;
      this.removedByOthers.delete(value);
      (this.#wasValid.has(value) ? this.back : this.ofOthers).add(value);
    }
    for (const value of before) if (!valid.has(value)) this.removedByOthers.add(value);
    for (const value of [...before, ...valid]) this.#wasValid.add(value);
  }

  async prove(value: string, place: Place): Promise<ProbeResult> {
    if (this.#nextReply("proof").fault !== "none") return { kind: "unknown", why: "no response" };
    if (!this.validAt(place).has(value)) return { kind: "refused", words: "WRONGPASS no" };
    this.proven.add(value);
    return { kind: "accepted" };
  }

  /**
   * Sends a request.
   *
   * @param respond returns the response, unless a fault prevents it
   * @param apply what it does, at once
   */
  protected request<T>(request: RequestName, respond: (reply: Reply) => T, apply?: () => void): T {
    const reply = this.#nextReply(request);
    const { fault } = reply;
    const { meanwhile } = this.#delivery;
    const before = this.validAt();
    const isApplied = fault === "none" || fault === "lost after";
    if (isApplied) apply?.();
    if (changes.includes(request)) this.#note(request, fault, before);
    const response = fault === "none" ? respond(reply) : undefined;
    // After a reset that was applied, nothing could tell one from the other.
    const isChanged = request === "add" ? isApplied : request === "reset" && fault === "lost before";
    if (meanwhile && isChanged) this.changeByOthers(meanwhile);
    if (fault === "not sent") return notSent();
    if (fault === "rejected") return rejected();
    if (fault !== "none") return unconfirmed();
    this.isRead ||= request === "read" && this.phase === "rotation";
    return response as T;
  }

  /** Notes what a read shows. */
  protected show<T extends Partial<SecretResponse>>(response: T): T {
    for (const [name, value] of Object.entries(response.credentials ?? {})) this.shownAsInUp.add(`${name} ${value}`);
    for (const value of valuesIn(response)) {
      this.shown.add(value);
      this.shownInUp.add(value);
    }
    return response;
  }

  /** Notes what a request has made. */
  protected deliver<T>(response: T): T {
    for (const value of valuesIn(response)) this.returned.add(value);
    return response;
  }

  #note(request: RequestName, fault: Reply["fault"], before: ReadonlySet<string>): void {
    const valid = this.validAt();
    const added = [...valid].filter((value) => !before.has(value));
    const removed = [...before].filter((value) => !valid.has(value));
    for (const value of [...added, ...removed]) this.#wasValid.add(value);
    for (const value of removed) this.back.delete(value);
    const mayBeApplied = fault !== "not sent" && fault !== "rejected";
    const recognized = removed.filter((value) => this.recognizes(value));
    this.sent.push({ phase: this.phase, request, mayBeApplied, added, removed, recognized });
  }

  #nextReply(request: RequestName): Reply {
    if (this.settings().isAway) return { ...plainReply, fault: "not sent" };
    const turn = this.#turns.get(request) ?? 0;
    this.#turns.set(request, turn + 1);
    const { [request]: replies = [] } = this.#delivery.replies;
    return replies[turn % replies.length] ?? plainReply;
  }
}

/** A marker for the values of a walk. */
export const anyValue = /value-[\w-]+-\d+-\w/g;

/** All values of a walk in something that can be written as JSON. */
export function valuesIn(something: unknown): Set<string> {
  return new Set(JSON.stringify(something ?? {}).match(anyValue));
}

export function valueOf(label: string, nth: number, name: string): string {
  return `value-${label}-${nth}-${name.endsWith("Key") ? "k" : name.slice(0, 1)}`;
}
