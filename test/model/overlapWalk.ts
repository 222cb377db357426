import assert from "node:assert/strict";
import { unknownValue } from "../../provider/pulumi/values";
import { saltedMark } from "../../provider/rotation/marks";
import { readMemory } from "../../provider/rotation/memory";
import { type Run } from "../../provider/run/run";
import { type Team } from "../support/age";
import { FakeRun } from "../support/fakeRun";
import { type EngineCalls, Stack } from "../support/stack";
import { type Properties, withoutSecrets } from "../support/wire";
import { anyValue } from "./account";
import { dynamicCalls, forced, pluginCalls, twice } from "./adapterCalls";
import { noFaults, type OverlapAccount, QueueAccount, UserAccount } from "./overlapAccount";
import { OverlapRules, type Seen, type Taken } from "./overlapRules";
import {
  type OverlapKind,
  plainProgram,
  plainSettings,
  plainUp,
  type Program,
  type Settings,
  type Step,
  type Up,
} from "./overlapSteps";
import { numbered } from "./walk";

type ResourceName = OverlapKind | "CredentialVerification";

/** What an `up` did, in addition to what was saved and sent. */
interface Done extends Pick<Taken, "announced" | "isHandedOver" | "isVerified" | "failures"> {}

const nothingDone: Done = { announced: "", isHandedOver: false, isVerified: false, failures: [] };

/** A secret of which two may be valid, its consumers and its verification over many runs of an adapter. */
export class OverlapWalk {
  readonly #fake = new FakeRun();
  readonly #account: OverlapAccount;
  readonly #rules: OverlapRules;
  readonly #rotation = new Stack(undefined as never);
  readonly #verification = new Stack(undefined as never);
  #program: Program = plainProgram;
  #settings: Settings = plainSettings;
  #lastVersion = 1;
  #leakedAt: string | undefined;
  #ownToken: string | undefined;
  /** What the last step did, for the comparison of both adapters. */
  did: unknown;

  constructor(
    private readonly adapter: "dynamic" | "plugin",
    private readonly kind: OverlapKind,
    private readonly team: Team,
    reached: Set<string>,
  ) {
    const isUser = kind === "AclUserRotation";
    this.#account = isUser ? new UserAccount(() => this.#settings) : new QueueAccount(this.#fake);
    this.#fake.probe = ({ credential, endpoint }) =>
      this.#account.prove(credential.value, "host" in endpoint ? endpoint.host : undefined);
    this.#rules = new OverlapRules(isUser, reached);
  }

  async take(step: Step): Promise<void> {
    const account = this.#account;
    const validBefore = this.#valid;
    const faults = "faults" in step ? step.faults : noFaults;
    this.#fake.said.length = 0;
    account.begin(faults, step.do === "up" ? step.meanwhile : undefined);
    const before = await this.#seen();
    const backBefore = new Set(account.back);
    const done = (await this.#take(step)) ?? nothingDone;
    account.phase = "other";
    const taken: Taken = {
      ...done,
      before,
      after: await this.#seen(),
      up: step.do === "up" ? step : undefined,
      sent: account.sent,
      proven: account.proven,
      isHonest: isHonest(step),
      program: this.#program,
      settings: this.#settings,
      ownToken: this.#ownToken,
      leakedAt: this.#leakedAt,
      now: this.#fake.time.getTime(),
      host: this.#settings.host,
      validBefore,
      validAt: (host) => account.validAt(host),
      valueBy: account.valueBy && ((hash) => account.valueBy?.(hash)),
      isRead: account.isRead,
      back: account.back,
      ofOthers: account.ofOthers,
      backBefore,
      removedByOthers: account.removedByOthers,
    };
    this.#rules.check(taken);
    this.#checkOwnToken();
    const saved = [this.#rotation, this.#verification].map((stack) => stack.saved?.outputs ?? {});
    const shown = [...saved.map((outputs) => JSON.stringify(withoutSecrets(outputs))), ...this.#fake.said].join("\n");
    assert.doesNotMatch(shown, anyValue, "a secret in plain text");
    const { failures, isHandedOver, isVerified } = done;
    const { rotationCount } = this.#rotation.plain;
    this.did = {
      step,
      sent: [...account.sent],
      failures,
      isHandedOver,
      isVerified,
      rotationCount,
      saved: this.#comparable,
    };
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
        this.#ownToken = step.isSet && this.#account instanceof QueueAccount ? this.#account.token : undefined;
        return;
      case "wait":
        this.#fake.time = new Date(this.#fake.time.getTime() + step.hours * 3_600_000);
        return;
      case "others":
        this.#account.changeByOthers(step.what);
        return;
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
    const { host } = this.#settings;
    await this.take({ do: "set", change: { ...plainSettings, host } });
    await this.take({ do: "set own token", isSet: false });
    await this.take({ do: "edit", change: { ...plainProgram, version: this.#lastVersion } });
    await this.take({ do: "refresh", faults: noFaults });
    for (const each of ["to be sure of its version", "the last one", "quiet"]) {
      if (each !== "quiet") await this.take({ do: "bump" });
      if (each === "the last one") this.#account.removeByHand?.(this.#rules.orphansIn(this.#valid));
      await this.take(plainUp);
      const { failures, isVerified } = this.did as Done;
      if (each !== "to be sure of its version") {
        assert.deepEqual({ failures, isVerified }, { failures: [], isVerified: true }, each);
      }
    }
    assert.deepEqual(this.#account.sent, [], "nothing is left to do");
    const { value } = (await this.#seen()) ?? assert.fail();
    assert.deepEqual(this.#rules.known(this.#valid, this.#account), [value]);
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
    this.#account.phase = "rotation";
    const failure = await failureOf(this.#rotation.up(this.#inputs));
    const done = { ...nothingDone, announced, failures: failure === undefined ? [] : [failure] };
    if (killedAfter === "rotation") {
      this.#rotation.saved = before;
      return done;
    }
    // The engine ends at the first failure.
    if (failure !== undefined || !isDeployed) return done;
    return { ...done, ...(await this.#verify(killedAfter === "verification")) };
  }

  async #verify(isKilled: boolean): Promise<Pick<Done, "isHandedOver" | "isVerified" | "failures">> {
    const { saved } = this.#verification;
    this.#account.phase = "verification";
    if (this.#program.verification === "none") {
      this.#verification.saved = undefined;
      return { isHandedOver: true, isVerified: false, failures: [] };
    }
    const failure = await failureOf(this.#verification.up(this.#verificationInputs()));
    if (isKilled) this.#verification.saved = saved;
    return { isHandedOver: true, isVerified: failure === undefined, failures: failure === undefined ? [] : [failure] };
  }

  async #preview(): Promise<void> {
    this.#account.phase = "preview";
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
    const { version, overlap, rotateEvery, isLeaked, initialRotation, form } = this.#program;
    const admin = { host: this.#settings.host, port: 6379, password: "admin" };
    return {
      ...(this.kind === "AclUserRotation" ? { userName: "app", admin } : { queueUserId: "user" }),
      initialRotation,
      ...(version > 0 && { version }),
      ...(overlap && { overlap }),
      ...(rotateEvery && { rotateEvery }),
      ...(isLeaked && { rotatedSince: this.#leakedAt }),
      ...((form === "hidden" || form === "encrypted") && { saveCredentials: false }),
      ...(form.includes("encrypted") && { encryptFor: [this.team.recipient] }),
    };
  }

  async #seen(): Promise<Seen | undefined> {
    const { plain } = this.#rotation;
    if (plain["memory"] === undefined) return undefined;
    const memory = readMemory(plain["memory"]);
    const file = plain["encryptedCredentials"];
    const inFile = file === undefined ? {} : await this.team.decrypt(file);
    const name = this.kind === "AclUserRotation" ? "password" : "token";
    const values = [plain, inFile].flatMap((one) => (one[name] as string | undefined) ?? []);
    const value = values.find((one) => saltedMark(memory.salt, one) === memory.current.marks[name]);
    return { ...(plain as unknown as Seen), memory, value };
  }

  /** What is accepted where the program says that the secret is. */
  get #valid(): ReadonlySet<string> {
    return this.#account.validAt(this.#settings.host);
  }

  #checkOwnToken(): void {
    if (this.#ownToken === undefined) return;
    const removed = this.#account.sent.flatMap((one) => one.removed);
    assert.ok(!removed.includes(this.#ownToken), "rekey:queueToken was retired or reset");
  }

  /** What is saved, without what is encrypted in another way each time. */
  get #comparable(): string[] {
    return [this.#rotation, this.#verification].map(({ plain }) => {
      const { __provider, encryptedCredentials, memory, access, ...others } = plain;
      return numbered({ ...others, isEncrypted: encryptedCredentials !== undefined });
    });
  }

  /** Starts processes of the adapter for one run. */
  #start(callsOf = (calls: EngineCalls) => calls): void {
    const { scheduledResets } = this.#settings;
    this.#fake.settings = {
      deadlineSeconds: "2",
      scheduledResets,
      ...(this.#ownToken && { queueToken: this.#ownToken, queueUserId: undefined }),
    };
    const run = this.#fake.start(this.#account.partsFor());
    this.#rotation.calls = callsOf(this.#callsOf(this.kind, run));
    this.#verification.calls = callsOf(this.#callsOf("CredentialVerification", run));
  }

  #callsOf(type: ResourceName, run: Run): EngineCalls {
    return this.adapter === "dynamic" ? dynamicCalls(type, run) : pluginCalls(type, run, this.#fake.said);
  }
}

/** Whether all requests of a step are responded to, and no one else interferes. */
function isHonest(step: Step): boolean {
  const faults = "faults" in step ? Object.values(step.faults).flat() : [];
  return faults.every((one) => one === "none") && !(step.do === "up" && step.meanwhile);
}

function failureOf(change: Promise<unknown>): Promise<string | undefined> {
  return change.then(
    () => undefined,
    ({ message }: Error) => message,
  );
}
