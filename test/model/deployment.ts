import assert from "node:assert/strict";
import { type ResourceType } from "../../provider/engine/resources";
import { unknownValue } from "../../provider/pulumi/values";
import { type Run } from "../../provider/run/run";
import { type Team } from "../support/age";
import { FakeRun } from "../support/fakeRun";
import { inputsOf } from "../support/kinds";
import { type EngineCalls, Stack } from "../support/stack";
import { type Properties } from "../support/wire";
import { type Account, type Phase } from "./account";
import { accountOf, hostOf, placeOf } from "./accounts";
import { dynamicCalls, forced, pluginCalls, twice } from "./adapterCalls";
import { plainProgram, plainSettings, type Program, type Subject, type Up } from "./steps";

export type AdapterName = "dynamic" | "plugin";

/** What an `up` did, in addition to what was saved and sent. */
export interface Done {
  readonly announced: string;
  readonly isHandedOver: boolean;
  readonly isVerified: boolean;
  /** Why the rotation failed, by the id of a secret, and why the verification did. */
  readonly failures: Readonly<Record<string, string>>;
}

export const nothingDone: Done = { announced: "", isHandedOver: false, isVerified: false, failures: {} };

/** A program with a resource and its verification, its state, and an engine that runs it with an adapter. */
export class Deployment {
  readonly fake = new FakeRun();
  readonly rotation = new Stack(undefined as never);
  readonly verification = new Stack(undefined as never);
  readonly isFleet: boolean;
  /** Where the secrets are, by their ids. */
  readonly accounts: ReadonlyMap<string, Account>;
  program: Program;
  settings = plainSettings;
  leakedAt: string | undefined;
  ownToken: string | undefined;

  constructor(
    private readonly adapter: AdapterName,
    private readonly subject: Subject,
    private readonly team: Team,
  ) {
    this.program = plainProgram(subject);
    this.isFleet = subject.type === "PasswordRotationFleet";
    this.accounts = new Map(subject.ids.map((id) => [id, accountOf(subject, id, () => this.settings)]));
    this.fake.readDatabase = (id) => this.#accountOf(id).read?.() ?? {};
    this.fake.answer = (id) => this.#accountOf(id).reset?.() ?? {};
    this.fake.probe = ({ credential, endpoint }) => {
      const place = "host" in endpoint ? placeOf(endpoint.host) : this.settings.place;
      return this.first.prove(credential.value, place);
    };
  }

  get first(): Account {
    return [...this.accounts.values()][0] ?? assert.fail();
  }

  set phase(phase: Phase) {
    for (const account of this.accounts.values()) account.phase = phase;
  }

  async destroy(): Promise<void> {
    this.#start();
    await this.rotation.destroy();
    this.verification.saved = undefined;
  }

  async refresh(): Promise<void> {
    this.#start();
    if (this.rotation.saved) await this.rotation.refresh();
  }

  async import(): Promise<void> {
    if (this.rotation.saved) return;
    // Only the plugin can import.
    this.#start((calls) => calls, "plugin");
    const { kind, ids } = this.subject;
    await this.rotation.import(kind.onlyId ?? ids[0] ?? "").catch(() => undefined);
    if (this.isFleet) assert.equal(this.rotation.saved, undefined, "a fleet was imported");
  }

  async up({ isDeployed, isRepeated, isForced, killedAfter }: Up): Promise<Done> {
    const { said } = this.fake;
    await this.#preview();
    const announced = said.splice(0).join("\n");
    const before = this.rotation.saved;
    this.#start((calls) => {
      const all = isForced ? forced(calls) : calls;
      return isRepeated ? twice(all) : all;
    });
    this.phase = "rotation";
    const failure = await failureOf(this.rotation.up(this.#inputs));
    const done = { ...nothingDone, announced, failures: this.#failures(failure, this.rotation.saved !== before) };
    if (killedAfter === "rotation") {
      this.rotation.saved = before;
      return done;
    }
    // The engine ends at the first failure.
    if (Object.keys(done.failures).length > 0 || !isDeployed) return done;
    return { ...done, ...(await this.#verify(killedAfter === "verification")) };
  }

  /** Of a fleet, whose outputs have the errors, the SDK's class fails the program. */
  #failures(failure: string | undefined, isSaved: boolean): Done["failures"] {
    const states = Object.values((this.rotation.plain["states"] ?? {}) as Record<string, Properties>);
    const errorOf = (id: string) => states.find(({ databaseId }) => databaseId === id)?.["error"] as string | undefined;
    const all = this.subject.ids.flatMap((id) => {
      const why = this.isFleet && isSaved ? errorOf(id) : failure;
      return why === undefined ? [] : [[id, why] as const];
    });
    return Object.fromEntries(all);
  }

  async #verify(isKilled: boolean): Promise<Omit<Done, "announced">> {
    const { saved } = this.verification;
    this.phase = "verification";
    if (this.program.verification === "none") {
      this.verification.saved = undefined;
      return { isHandedOver: true, isVerified: false, failures: {} };
    }
    const failure = await failureOf(this.verification.up(this.#verificationInputs()));
    if (isKilled) this.verification.saved = saved;
    const failures = failure === undefined ? {} : { verification: failure };
    return { isHandedOver: true, isVerified: failure === undefined, failures };
  }

  async #preview(): Promise<void> {
    this.phase = "preview";
    for (const version of [unknownValue, undefined]) {
      this.#start();
      const inputs = { ...this.#inputs, ...(version && { version }) };
      const step = await this.rotation.preview(inputs).catch(() => undefined);
      if (version) this.fake.said.length = 0;
      if (this.program.verification === "none") continue;
      const access = step?.did === "same" ? this.rotation.plain["access"] : unknownValue;
      await this.verification.preview(this.#verificationInputs(access)).catch(() => undefined);
    }
  }

  #verificationInputs(access: unknown = this.rotation.plain["access"]): Properties {
    const retires = this.program.verification === "retires" && { retireFormerAfter: ["deployment"] };
    return { access, withinSeconds: 1, ...retires };
  }

  get #inputs(): Properties {
    const { kind, shape, ids } = this.subject;
    const { version, isText, overlap, rotateEvery, isLeaked, initialRotation, minInterval, form, fleet } = this.program;
    const databases = Object.fromEntries(fleet.map((name, nth) => [name, ids[nth]]));
    return {
      ...(this.isFleet ? { databases } : inputsOf(kind, ids[0] ?? "")),
      ...((kind.shape === "adds" || shape === "redis") && { overlap }),
      ...(shape === "rolls" && { minInterval }),
      ...(shape === "redis" && { admin: { host: hostOf(this.settings.place), port: 6379, password: "admin" } }),
      initialRotation,
      ...(version > 0 && { version: isText ? String(version) : version }),
      ...(rotateEvery && { rotateEvery }),
      ...(isLeaked && { rotatedSince: this.leakedAt }),
      ...((form === "hidden" || form === "encrypted") && { saveCredentials: false }),
      ...(form.includes("encrypted") && { encryptFor: [this.team.recipient] }),
    };
  }

  #accountOf(id: string): Account {
    return this.accounts.get(id) ?? assert.fail(`unknown: ${id}`);
  }

  /** Starts processes of the adapter for one run. */
  #start(callsOf = (calls: EngineCalls) => calls, adapter = this.adapter): void {
    const { place, canRead, scheduledResets, maxResets } = this.settings;
    this.fake.canRead = canRead;
    this.fake.settings = {
      deadlineSeconds: "2",
      scheduledResets,
      maxResetsPerRun: maxResets?.toString(),
      ...(this.ownToken && { queueToken: this.ownToken, queueUserId: undefined }),
    };
    this.fake.queueAccount = { account: place, address: `https://${place}` };
    const run = this.fake.start(this.first.partsFor());
    this.rotation.calls = callsOf(this.#callsOf(adapter, this.subject.type, run));
    this.verification.calls = callsOf(this.#callsOf(adapter, "CredentialVerification", run));
  }

  #callsOf(adapter: AdapterName, type: ResourceType, run: Run): EngineCalls {
    return adapter === "dynamic" ? dynamicCalls(type, run) : pluginCalls(type, run, this.fake.said);
  }
}

function failureOf(change: Promise<unknown>): Promise<string | undefined> {
  return change.then(
    () => undefined,
    ({ message }: Error) => message,
  );
}
