import assert from "node:assert/strict";
import { type ResourceType } from "../../provider/engine/resources";
import { unknownValue } from "../../provider/pulumi/values";
import { saltedMark } from "../../provider/rotation/marks";
import { unsealed } from "../../provider/rotation/memory";
import { type Run } from "../../provider/run/run";
import { type Team } from "../support/age";
import { FakeRun } from "../support/fakeRun";
import { inputsOf } from "../support/kinds";
import { type EngineCalls, Stack } from "../support/stack";
import { type Properties, withoutSecrets } from "../support/wire";
import { type Account, anyValue, type Delivery, honest, isHonest, type Phase, valuesIn } from "./account";
import { accountOf, hostOf, placeOf } from "./accounts";
import { dynamicCalls, forced, pluginCalls, twice } from "./adapterCalls";
import { Rules } from "./rules";
import {
  plainProgram,
  plainSettings,
  plainUp,
  type Program,
  type Settings,
  type Step,
  type Subject,
  type Up,
} from "./steps";
import { overlaps, type Seen, type Taken } from "./taken";

/** What an `up` did, in addition to what was saved and sent. */
interface Done {
  readonly announced: string;
  readonly isHandedOver: boolean;
  readonly isVerified: boolean;
  /** Why the rotation failed, by the id of a secret, and why the verification did. */
  readonly failures: Readonly<Record<string, string>>;
}

const nothingDone: Done = { announced: "", isHandedOver: false, isVerified: false, failures: {} };

interface Secret {
  readonly id: string;
  readonly account: Account;
  readonly rules: Rules;
}

/** A resource, its consumers and its verification over many runs of an adapter, and what must hold in each of them. */
export class Walk {
  readonly #fake = new FakeRun();
  readonly #secrets: readonly Secret[];
  readonly #rotation = new Stack(undefined as never);
  readonly #verification = new Stack(undefined as never);
  readonly #isFleet: boolean;
  #program: Program;
  #settings = plainSettings;
  /** The last version that was set, whether or not the program still has it. */
  #lastVersion = 1;
  #leakedAt: string | undefined;
  #ownToken: string | undefined;
  #done = nothingDone;
  readonly #files = new Map<unknown, Promise<Properties>>();
  /** What the last step did, for the comparison of both adapters. */
  did: unknown;

  constructor(
    private readonly adapter: "dynamic" | "plugin",
    private readonly subject: Subject,
    private readonly team: Team,
    reached: Set<string>,
  ) {
    this.#program = plainProgram(subject);
    this.#isFleet = subject.type === "PasswordRotationFleet";
    this.#secrets = subject.ids.map((id) => ({
      id,
      account: accountOf(subject, id, () => this.#settings),
      rules: new Rules(subject, reached),
    }));
    this.#fake.readDatabase = (id) => this.#secretOf(id).account.read?.() ?? {};
    this.#fake.answer = (id) => this.#secretOf(id).account.reset?.() ?? {};
    this.#fake.probe = ({ credential, endpoint }) => {
      const place = "host" in endpoint ? placeOf(endpoint.host) : this.#settings.place;
      return this.#first.account.prove(credential.value, place);
    };
  }

  async take(step: Step): Promise<void> {
    if (step.do === "up" && step.isRefreshed) await this.take({ do: "refresh", deliveries: step.deliveries });
    this.#fake.said.length = 0;
    const earlier = await Promise.all(
      this.#secrets.map((secret, nth) => this.#begin(secret, deliveryOf(step, nth), step)),
    );
    this.#done = (await this.#take(step)) ?? nothingDone;
    this.#phase = "other";
    const saved = await this.#saved();
    const inFile = valuesIn(saved["encryptedCredentials"]);
    const inState = valuesIn({ ...saved, encryptedCredentials: undefined });
    for (const [nth, { id, account, rules }] of this.#secrets.entries()) {
      const isOwn = (value: string) => (this.#isFleet ? value.includes(`-${id}-`) : true);
      const { announced, failures, ...done } = this.#done;
      const name = JSON.stringify(this.#program.fleet[nth]);
      const lines = announced.split("\n").filter((line) => !this.#isFleet || line.includes(name));
      const delivery = deliveryOf(step, nth);
      const taken: Taken = {
        ...done,
        ...(earlier[nth] ?? assert.fail()),
        subject: this.subject,
        account,
        after: await this.#seen(id),
        up: step.do === "up" ? step : undefined,
        announced: lines.join("\n"),
        isHonest: isHonest(delivery) && !this.#settings.isAway,
        failures: Object.entries(failures).flatMap(([of, why]) => (of === id || of === "verification" ? why : [])),
        program: this.#program,
        settings: this.#settings,
        ownToken: this.#ownToken,
        leakedAt: this.#leakedAt,
        now: this.#fake.time.getTime(),
        inState: new Set([...inState].filter(isOwn)),
        inFile: new Set([...inFile].filter(isOwn)),
      };
      rules.check(taken);
      if (this.#rotation.saved && !taken.after) rules.history.lose();
    }
    const made = this.#secrets.flatMap(({ account }) =>
      account.sent.filter(({ request, mayBeApplied }) => request !== "retire" && mayBeApplied).slice(0, 1),
    );
    assert.ok(made.length <= (this.#settings.maxResets ?? Infinity), "more resets than maxResetsPerRun");
    const outputs = [this.#rotation, this.#verification].map((stack) => stack.saved?.outputs ?? {});
    const shown = [...outputs.map((one) => JSON.stringify(withoutSecrets(one))), ...this.#fake.said].join("\n");
    assert.doesNotMatch(shown, anyValue, "a secret in plain text");
    this.did = {
      step,
      sent: this.#secrets.map(({ account }) => [...account.sent]),
      done: this.#done,
      said: [...new Set(this.#fake.said)].sort(),
      saved: [numbered(saved), numbered(this.#verification.plain)],
    };
  }

  async #begin({ id, account, rules }: Secret, delivery: Delivery, step: Step) {
    account.begin(delivery, rules.history.known, step.do === "up");
    const before = await this.#seen(id);
    return { before, validBefore: account.validAt(), backBefore: new Set(account.back) };
  }

  async #take(step: Step): Promise<Done | undefined> {
    switch (step.do) {
      case "edit":
        this.#program = { ...this.#program, ...step.change };
        return;
      case "bump":
        this.#program = { ...this.#program, version: ++this.#lastVersion };
        return;
      case "leak":
        this.#leakedAt = this.#fake.time.toISOString();
        this.#program = { ...this.#program, isLeaked: true };
        return;
      case "set":
        this.#settings = { ...this.#settings, ...step.change };
        return;
      case "set own token":
        [this.#ownToken] = step.isSet ? this.#first.account.validAt() : [];
        return;
      case "wait":
        this.#fake.time = new Date(this.#fake.time.getTime() + step.hours * 3_600_000);
        return;
      case "others":
        for (const { account } of this.#secrets) account.changeByOthers(step.what);
        return;
      case "lose":
        this.#start();
        await this.#rotation.destroy();
        this.#verification.saved = undefined;
        for (const { rules } of this.#secrets) rules.history.lose();
        return;
      case "import":
        return this.#import();
      case "refresh":
        this.#start();
        if (this.#rotation.saved) await this.#rotation.refresh();
        return;
      case "up":
        return this.#up(step);
    }
  }

  /** However a walk went: after an honest refresh and a new version, only what the consumers have is valid. */
  async finish(): Promise<void> {
    const before = (await Promise.all(this.#secrets.map(({ id }) => this.#seen(id)))).find((one) => one);
    const isUser = this.subject.shape === "redis";
    const place = isUser ? this.#settings.place : ((before?.memory.ofSource.account ?? "home") as Settings["place"]);
    await this.take({ do: "set", change: { ...plainSettings, place } });
    await this.take({ do: "set own token", isSet: false });
    await this.take({
      do: "edit",
      change: { ...plainProgram(this.subject), version: this.#lastVersion, minInterval: "0s" },
    });
    await this.take({ do: "refresh", deliveries: [] });
    for (const each of ["to be sure of its version", "the last one", "quiet"]) {
      if (each !== "quiet") await this.take({ do: "bump" });
      for (const { account, rules } of each === "the last one" ? this.#secrets : []) {
        account.removeByHand?.(rules.history.orphansIn(account.validAt()));
      }
      await this.take(plainUp);
      const mayFail = overlaps(this.subject) && each === "to be sure of its version";
      if (!mayFail) assert.deepEqual(this.#done.failures, {}, each);
    }
    for (const { id, account, rules } of this.#secrets) {
      assert.deepEqual(account.sent, [], "nothing is left to do");
      const { value = "", outcome, outputs } = (await this.#seen(id)) ?? assert.fail();
      assert.equal(outcome, "reset");
      assert.deepEqual(rules.history.own(account.validAt(), { account }), [value]);
      const current = account.credentialsAt(this.#settings.place).find((one) => Object.values(one).includes(value));
      const saved = Object.keys(current ?? {}).map((name) => [name, outputs[name]]);
      assert.deepEqual(Object.fromEntries(saved), current);
    }
  }

  async #import(): Promise<undefined> {
    if (this.#rotation.saved) return;
    // Only the plugin can import.
    this.#start((calls) => calls, "plugin");
    const { kind, ids } = this.subject;
    await this.#rotation.import(kind.onlyId ?? ids[0] ?? "").catch(() => undefined);
    if (this.#isFleet) assert.equal(this.#rotation.saved, undefined, "a fleet was imported");
    if (this.#rotation.saved) for (const { rules } of this.#secrets) rules.history.isImported = true;
  }

  async #up({ isDeployed, isRepeated, isForced, killedAfter }: Up): Promise<Done> {
    const { said } = this.#fake;
    await this.#preview();
    const announced = said.splice(0).join("\n");
    const before = this.#rotation.saved;
    this.#start((calls) => {
      const all = isForced ? forced(calls) : calls;
      return isRepeated ? twice(all) : all;
    });
    this.#phase = "rotation";
    const failure = await failureOf(this.#rotation.up(this.#inputs));
    const done = { ...nothingDone, announced, failures: this.#failures(failure, this.#rotation.saved !== before) };
    if (killedAfter === "rotation") {
      this.#rotation.saved = before;
      return done;
    }
    // The engine ends at the first failure.
    if (Object.keys(done.failures).length > 0 || !isDeployed) return done;
    return { ...done, ...(await this.#verify(killedAfter === "verification")) };
  }

  /** Of a fleet, whose outputs have the errors, the SDK's class fails the program. */
  #failures(failure: string | undefined, isSaved: boolean): Done["failures"] {
    const states = Object.values((this.#rotation.plain["states"] ?? {}) as Record<string, Properties>);
    const errorOf = (id: string) => states.find(({ databaseId }) => databaseId === id)?.["error"] as string | undefined;
    const all = this.subject.ids.flatMap((id) => {
      const why = this.#isFleet && isSaved ? errorOf(id) : failure;
      return why === undefined ? [] : [[id, why] as const];
    });
    return Object.fromEntries(all);
  }

  async #verify(isKilled: boolean): Promise<Omit<Done, "announced">> {
    const { saved } = this.#verification;
    this.#phase = "verification";
    if (this.#program.verification === "none") {
      this.#verification.saved = undefined;
      return { isHandedOver: true, isVerified: false, failures: {} };
    }
    const failure = await failureOf(this.#verification.up(this.#verificationInputs()));
    if (isKilled) this.#verification.saved = saved;
    const failures = failure === undefined ? {} : { verification: failure };
    return { isHandedOver: true, isVerified: failure === undefined, failures };
  }

  async #preview(): Promise<void> {
    this.#phase = "preview";
    for (const version of [unknownValue, undefined]) {
      this.#start();
      const inputs = { ...this.#inputs, ...(version && { version }) };
      const step = await this.#rotation.preview(inputs).catch(() => undefined);
      if (version) this.#fake.said.length = 0;
      if (this.#program.verification === "none") continue;
      const access = step?.did === "same" ? this.#rotation.plain["access"] : unknownValue;
      await this.#verification.preview(this.#verificationInputs(access)).catch(() => undefined);
    }
  }

  #verificationInputs(access: unknown = this.#rotation.plain["access"]): Properties {
    const retires = this.#program.verification === "retires" && { retireFormerAfter: ["deployment"] };
    return { access, withinSeconds: 1, ...retires };
  }

  get #inputs(): Properties {
    const { kind, shape, ids } = this.subject;
    const { version, isText, overlap, rotateEvery, isLeaked, initialRotation, minInterval, form, fleet } =
      this.#program;
    const databases = Object.fromEntries(fleet.map((name, nth) => [name, ids[nth]]));
    return {
      ...(this.#isFleet ? { databases } : inputsOf(kind, this.#first.id)),
      ...((kind.shape === "adds" || shape === "redis") && { overlap }),
      ...(shape === "rolls" && { minInterval }),
      ...(shape === "redis" && { admin: { host: hostOf(this.#settings.place), port: 6379, password: "admin" } }),
      initialRotation,
      ...(version > 0 && { version: isText ? String(version) : version }),
      ...(rotateEvery && { rotateEvery }),
      ...(isLeaked && { rotatedSince: this.#leakedAt }),
      ...((form === "hidden" || form === "encrypted") && { saveCredentials: false }),
      ...(form.includes("encrypted") && { encryptFor: [this.team.recipient] }),
    };
  }

  get #first(): Secret {
    return this.#secrets[0] ?? assert.fail();
  }

  #secretOf(id: string): Secret {
    return this.#secrets.find((one) => one.id === id) ?? assert.fail(`unknown: ${id}`);
  }

  set #phase(phase: Phase) {
    for (const { account } of this.#secrets) account.phase = phase;
  }

  /** A secret in the outputs of the resource. */
  async #seen(id: string): Promise<Seen | undefined> {
    const saved = await this.#saved();
    const { memory: text, encryptedCredentials } = saved;
    if (text === undefined) return undefined;
    const {
      outputs,
      memory: sealed,
      file,
    } = this.#isFleet
      ? inFleet(saved, id)
      : { outputs: saved, memory: JSON.parse(text as string) as unknown, file: encryptedCredentials };
    if (sealed === undefined || outputs["outcome"] === "none") return undefined;
    const memory = unsealed(sealed);
    const { best } = this.#secretOf(id).account;
    const values = [outputs, (file ?? {}) as Properties].flatMap((one) => (one[best] as string | undefined) ?? []);
    const value = values.find((one) => saltedMark(memory.salt, one) === memory.current.marks[best]);
    return { ...(outputs as unknown as Seen), memory, value, outputs };
  }

  /** The outputs, with what is in age files. */
  async #saved(): Promise<Properties> {
    const { __provider, encryptedCredentials, ...outputs } = this.#rotation.plain;
    if (encryptedCredentials === undefined) return outputs;
    if (!this.#isFleet) return { ...outputs, encryptedCredentials: await this.#decrypted(encryptedCredentials) };
    const files = Object.entries(encryptedCredentials as Properties);
    const decrypted = files.map(async ([name, file]) => [name, await this.#decrypted(file)] as const);
    return { ...outputs, encryptedCredentials: Object.fromEntries(await Promise.all(decrypted)) };
  }

  /** An age file that stays is decrypted once. */
  #decrypted(file: unknown): Promise<Properties> {
    const known = this.#files.get(file) ?? this.team.decrypt(file);
    this.#files.set(file, known);
    return known;
  }

  /** Starts processes of the adapter for one run. */
  #start(callsOf = (calls: EngineCalls) => calls, adapter = this.adapter): void {
    const { place, canRead, scheduledResets, maxResets } = this.#settings;
    this.#fake.canRead = canRead;
    this.#fake.settings = {
      deadlineSeconds: "2",
      scheduledResets,
      maxResetsPerRun: maxResets?.toString(),
      ...(this.#ownToken && { queueToken: this.#ownToken, queueUserId: undefined }),
    };
    this.#fake.queueAccount = { account: place, address: `https://${place}` };
    const run = this.#fake.start(this.#first.account.partsFor());
    this.#rotation.calls = callsOf(this.#callsOf(adapter, this.subject.type, run));
    this.#verification.calls = callsOf(this.#callsOf(adapter, "CredentialVerification", run));
  }

  #callsOf(adapter: "dynamic" | "plugin", type: ResourceType, run: Run): EngineCalls {
    return adapter === "dynamic" ? dynamicCalls(type, run) : pluginCalls(type, run, this.#fake.said);
  }
}

function deliveryOf(step: Step, nth: number): Delivery {
  return ("deliveries" in step ? step.deliveries[nth] : undefined) ?? honest;
}

/** A secret in the outputs of a fleet, by the id of its database. */
function inFleet(saved: Properties, id: string): { outputs: Properties; memory: unknown; file: unknown } {
  const all = Object.entries(saved["states"] as Record<string, Properties>);
  const [name = "", state = { outcome: "none" }] = all.find(([, { databaseId }]) => databaseId === id) ?? [];
  const access = JSON.parse(saved["access"] as string) as Record<string, { count: number }>;
  const credentials = (saved["credentials"] as Record<string, Properties>)[name];
  return {
    outputs: { ...state, rotationCount: access[name]?.count, ...credentials },
    memory: (JSON.parse(saved["memory"] as string) as Properties)[id],
    file: (saved["encryptedCredentials"] as Properties | undefined)?.[name],
  };
}

function failureOf(change: Promise<unknown>): Promise<string | undefined> {
  return change.then(
    () => undefined,
    ({ message }: Error) => message,
  );
}

/** Outputs as text, with marks and salts by the order in which they occur. */
function numbered(outputs: Properties): string {
  const marks: string[] = [];
  const { __provider, ...others } = outputs;
  const sorted = Object.fromEntries(Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify(sorted).replace(/(?<=\\")([\w-]{36}|[\w-]{16})(?=\\")/g, (mark) => {
    if (!marks.includes(mark)) marks.push(mark);
    return `mark ${marks.indexOf(mark)}`;
  });
}
