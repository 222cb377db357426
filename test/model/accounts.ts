import { createHash } from "node:crypto";
import { hashOf } from "../../provider/clients/aclReplies";
import { type AclUsers } from "../../provider/clients/aclUsers";
import { type NextTokens } from "../../provider/platform/nextTokens";
import { type Credentials } from "../../provider/records/fields";
import { type SecretResponse } from "../../provider/records/secretResponse";
import { type Platform } from "../../provider/run/run";
import { conflicting } from "../support/fakeRun";
import { Account, type OthersDo, type Reply, valueOf } from "./account";
import { type Place, type Settings, type Subject } from "./steps";

/** Two addresses lead to one account or server, and one to another. */
type Side = "home" | "elsewhere";
const sideOf = (place: Place): Side => (place === "elsewhere" ? "elsewhere" : "home");

/** A secret that a reset replaces, or a pair of keys that it rolls: each change makes another generation. */
class ResetAccount extends Account {
  readonly #sides = { home: new Generations(), elsewhere: new Generations() };

  credentialsAt(place: Place): readonly Credentials[] {
    return [this.#credentials(this.#sides[sideOf(place)].current, sideOf(place))];
  }

  partsFor(): Partial<Platform> {
    return {};
  }

  override read(): Partial<SecretResponse> {
    return this.request("read", ({ mask, isLate }) => {
      const { isHiding } = this.settings();
      const { changedIn } = this.#here;
      const isOld = isLate && this.#isFormerKnown && changedIn >= this.step - 1;
      return this.show(this.#record(isOld, isHiding ? "nothing" : mask));
    });
  }

  override reset(): Partial<SecretResponse> {
    const respond = ({ mask, isLate }: Reply) => {
      // The response of an index has no record.
      if (this.kind.confirmation !== undefined) return {};
      const isOld = isLate && this.#isFormerKnown;
      const response = this.#record(isOld, mask);
      // No platform shows a credential without the one that identifies its record: such a response only confirms.
      return mask === "the other" || isOld ? response : this.deliver(response);
    };
    return this.request("reset", respond, () => this.change("rolls"));
  }

  protected change(what: OthersDo): void {
    this.#here.change(this.step, what === "rolls twice" ? 2 : 1);
    this.isCurrentShown = false;
  }

  get #side(): Side {
    return sideOf(this.settings().place);
  }

  get #here(): Generations {
    return this.#sides[this.#side];
  }

  /**
   * Whether Rekey can recognize the record from before, by its best credential. A pair of keys of which it knows only
   * the current one, as the next one of another pair, looks like the result of a roll by Rekey.
   */
  get #isFormerKnown(): boolean {
    const former = this.#credentials(this.#here.former, this.#side);
    return this.recognizes(former[this.best]) && (!former.nextKey || this.recognizes(former.nextKey));
  }

  /** The next key of a pair is the current one of the next generation. */
  #credentials(nth: number, side: Side): Credentials {
    const value = (name: string) => valueOf(`${this.id}-${side}`, name === "nextKey" ? nth + 1 : nth, name);
    return Object.fromEntries(this.names.map((name) => [name, value(name)]));
  }

  #record(isOld: boolean, mask: Reply["mask"]): Partial<SecretResponse> {
    const { former, current } = this.#here;
    const isShown = (name: string) => mask === "all" || (mask === "the best") === (name === this.best);
    const all = Object.entries(this.#credentials(isOld ? former : current, this.#side));
    const credentials = Object.fromEntries(mask === "nothing" ? [] : all.filter(([name]) => isShown(name)));
    this.isCurrentShown ||= !isOld && this.best in credentials;
    return { record: { endpoint: "db.example.com", port: 6379, tls: true }, credentials };
  }
}

class Generations {
  current = 1;
  former = 0;
  changedIn = -Infinity;

  change(step: number, times = 1): void {
    this.former = this.current;
    this.current += times;
    this.changedIn = step;
  }
}

/** A user of the queue: each number is a pair of tokens. */
class QueueAccount extends Account {
  #made = 1;
  #current = 1;
  #next: number | undefined;

  credentialsAt(): readonly Credentials[] {
    return [this.#current, ...(this.#next === undefined ? [] : [this.#next])].map((nth) => this.#pair(nth));
  }

  partsFor(): Partial<Platform> {
    const nextTokens: Pick<NextTokens, "prepare" | "roll"> = {
      prepare: async () =>
        this.request(
          "add",
          () => this.deliver(this.#pair(this.#next ?? 0)),
          () => (this.#next ??= ++this.#made),
        ),
      roll: async (_id, hash) => {
        const isNext = this.#next !== undefined && sha256(this.#pair(this.#next).token ?? "") === hash;
        const apply = () => isNext && this.change("retires");
        return this.request("retire", () => (isNext ? undefined : conflicting()), apply);
      },
    };
    return { nextTokens: nextTokens as NextTokens };
  }

  override read(): Partial<SecretResponse> {
    return this.request("read", () => this.show(this.#record()));
  }

  override reset(): Partial<SecretResponse> {
    const respond = () => this.deliver(this.#record());
    return this.request("reset", respond, () => this.change("replaces"));
  }

  protected change(what: OthersDo): void {
    if (what === "adds") this.#next ??= ++this.#made;
    else if (what === "replaces") this.#current = ++this.#made;
    else if (what === "retires") this.#current = this.#next ?? this.#current;
    if (what !== "adds") this.#next = undefined;
  }

  #record(): Partial<SecretResponse> {
    const otherFields = JSON.stringify({ has_next_token: this.#next !== undefined });
    return { record: {}, credentials: this.#pair(this.#current), otherFields };
  }

  #pair(nth: number): Credentials {
    return Object.fromEntries(this.names.map((name) => [name, valueOf(this.id, nth, name)]));
  }
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** The users of one name at two Redis servers. */
class UserAccount extends Account {
  readonly #values = new Map<string, string>();
  #made = 0;
  readonly #sides = { home: this.#newUser(), elsewhere: this.#newUser() };

  constructor(...given: ConstructorParameters<typeof Account>) {
    super(...given);
    for (const value of this.valuesAt()) this.ofOthers.add(value);
  }

  credentialsAt(place: Place): readonly Credentials[] {
    const { hashes } = this.#sides[sideOf(place)];
    return hashes.map((hash) => ({ password: this.#values.get(hash) ?? hash }));
  }

  override valueBy(hash: string): string | undefined {
    return this.#values.get(hash);
  }

  partsFor(): Partial<Platform> {
    const usersAt = (host: string): Pick<AclUsers, keyof AclUsers> => {
      const place = placeOf(host);
      const user = this.#sides[sideOf(place)];
      const hashOfToken = this.settings().server === "makes tokens with other hashes" ? otherHashOf : hashOf;
      const shown = () => ({
        isOn: true,
        hasNoPassword: false,
        hashes: this.settings().isHiding ? [] : [...user.hashes],
      });
      const facts = { isReplica: false, isCluster: false, isSentinel: false, replicas: 0 };
      return {
        read: async () => this.request("read", shown),
        readServer: async () => this.request("make", () => facts),
        make: async () =>
          this.request("make", () =>
            this.deliver({ value: this.#make(), isToken: this.settings().server !== "plain" }),
          ),
        add: async (_name, { value, isToken }) => {
          const apply = () => void (user.hashes = [...user.hashes, isToken ? hashOfToken(value) : hashOf(value)]);
          return this.request("add", () => undefined, apply);
        },
        remove: async (_name, hashes) =>
          this.request(
            "retire",
            () => undefined,
            () => user.keep(user.hashes.filter((one) => !hashes.includes(one))),
          ),
        save: async () => {
          const { canSave } = this.settings();
          const apply = () => canSave && (user.file = user.hashes);
          return this.request("save", () => (canSave ? "saved" : "no file"), apply);
        },
      };
    };
    return { aclUsers: ({ host }) => usersAt(host) as AclUsers };
  }

  override removeByHand(values: readonly string[]): void {
    const user = this.#here;
    user.keep(user.hashes.filter((hash) => !values.includes(this.#values.get(hash) ?? "")));
  }

  /**
   * The oldest one is retired, the newest one replaced, and the last one that was removed is added again. The other
   * server becomes a copy of this one.
   */
  protected change(what: OthersDo): void {
    const user = this.#here;
    if (what === "copies") {
      const other = this.#sides[user === this.#sides.home ? "elsewhere" : "home"];
      const [copied, lost] = [user.hashes, other.hashes].map((all) =>
        all.map((hash) => this.#values.get(hash) ?? hash),
      );
      for (const value of copied ?? []) this.back.add(value);
      for (const value of lost ?? []) if (!copied?.includes(value)) this.removedByOthers.add(value);
      other.keep(user.hashes);
      other.file = user.hashes;
      return;
    }
    const { hashes, file, removed } = user;
    const last = removed.at(-1);
    const to: Partial<Record<OthersDo, readonly string[]>> = {
      adds: [...hashes, hashOf(this.#make())],
      retires: hashes.slice(1),
      replaces: [...hashes.slice(0, -1), hashOf(this.#make())],
      "brings back": last === undefined || hashes.includes(last) ? hashes : [...hashes, last],
      restarts: file,
    };
    user.keep(to[what] ?? hashes);
  }

  get #here(): User {
    return this.#sides[sideOf(this.settings().place)];
  }

  #newUser(): User {
    return new User([this.#make(), this.#make()].map(hashOf));
  }

  #make(): string {
    const value = valueOf(this.id, ++this.#made, "password");
    for (const hash of [hashOf(value), otherHashOf(value)]) this.#values.set(hash, value);
    return value;
  }
}

/** The passwords of a user, those in the server's file, and what was removed. */
class User {
  file: readonly string[];
  readonly removed: string[] = [];

  constructor(public hashes: readonly string[]) {
    this.file = hashes;
  }

  keep(hashes: readonly string[]): void {
    this.removed.push(...this.hashes.filter((hash) => !hashes.includes(hash)));
    this.hashes = hashes;
  }
}

const otherHashOf = (value: string) => hashOf(`salted ${value}`);

/** The host of a Redis server at a place. */
export const hostOf = (place: Place) => `${place.replaceAll(" ", "-")}.example.com`;

export function placeOf(host: string): Place {
  const [name = ""] = host.split(".");
  return name.replaceAll("-", " ") as Place;
}

const accounts = { replaces: ResetAccount, rolls: ResetAccount, adds: QueueAccount, redis: UserAccount };

export function accountOf({ kind, shape }: Subject, id: string, settings: () => Settings): Account {
  return new accounts[shape](kind, id, settings);
}
