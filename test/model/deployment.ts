import assert from "node:assert/strict";
import { type ResourceType } from "../../provider/engine/resources";
import { unknownValue } from "../../provider/pulumi/values";
import { type Run } from "../../provider/run/run";
import { type Team } from "../support/age";
import { FakeRun } from "../support/fakeRun";
import { inputsOf } from "../support/kinds";
import { type EngineCalls, Stack } from "../support/stack";
import { type Properties, revealed } from "../support/wire";
import { type Account, type Phase } from "./account";
import { accountOf, hostOf, placeOf } from "./accounts";
import { deletingFirst, dynamicCalls, forced, pluginCalls, replacing, twice } from "./adapterCalls";
import { plainProgram, plainSettings, type Program, type Subject, type Up } from "./steps";

export type AdapterName = "dynamic" | "plugin";

/** What an `up` did, in addition to what was saved and sent. */
export interface Done {
  readonly announced: string;
  /** Whether consumers were given what was saved, and whether by the Retirement. */
  readonly isHandedOver: boolean;
  readonly isOfRetirement: boolean;
  /** Whether the engine has deleted what was replaced, and whether one of that may retire: it knew the current one. */
  readonly isEnded: boolean;
  readonly mayRetire: boolean;
  /** Why the rotation failed, by the id of a secret, and why the verification or the Retirement did. */
  readonly failures: Readonly<Record<string, string>>;
}

export const nothingDone: Done = {
  announced: "",
  isHandedOver: false,
  isOfRetirement: false,
  isEnded: false,
  mayRetire: false,
  failures: {},
};

/** A program with a rotation, its verification and its Retirement, its state, and an engine that runs it. */
export class Deployment {
  readonly fake = new FakeRun();
  readonly rotation = new Stack(undefined as never);
  readonly verification = new Stack(undefined as never);
  readonly retirement = new Stack(undefined as never);
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

  /** Deletes everything, dependents first. */
  async destroy(): Promise<void> {
    this.#start();
    await this.retirement.destroy();
    this.verification.saved = undefined;
    await this.rotation.destroy();
  }

  /** Destroys everything, and puts the state back: it is as if the walk had ended here. */
  async tryDestroy(): Promise<void> {
    const undo = [this.rotation, this.verification, this.retirement].map(undoOf);
    await this.destroy();
    for (const one of undo) one();
  }

  async refresh(): Promise<void> {
    this.#start();
    for (const stack of [this.rotation, this.retirement]) if (stack.saved) await stack.refresh();
  }

  async import(): Promise<void> {
    if (this.rotation.saved) return;
    // Only the plugin can import.
    this.#start((calls) => calls, "plugin");
    const { kind, ids } = this.subject;
    await this.rotation.import(kind.onlyId ?? ids[0] ?? "").catch(() => undefined);
    if (this.isFleet) assert.equal(this.rotation.saved, undefined, "a fleet was imported");
  }

  async up(up: Up): Promise<Done> {
    const { isDeployed, isRepeated, isForced, isContinued, killedAfter } = up;
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
    const failures = this.#failures(failure, this.rotation.saved !== before);
    const done = { ...nothingDone, announced, failures };
    if (killedAfter === "rotation") {
      this.rotation.saved = before;
      return done;
    }
    if (Object.keys(failures).length > 0) {
      const { failures: others = {}, ...ended } = isContinued ? await this.#end() : {};
      return { ...done, ...ended, failures: { ...failures, ...others } };
    }
    // The engine ends at the first failure.
    for (const [name, change] of Object.entries({ verification: this.#verify, retirement: this.#changeRetirement })) {
      const undo = undoOf(this[name as "verification" | "retirement"]);
      const why = await failureOf(change(up));
      if (killedAfter === name) undo();
      if (why !== undefined) return { ...done, failures: { [name]: why } };
      if (killedAfter === name) return done;
    }
    if (!isDeployed) return done;
    const isOfRetirement = this.program.retires && this.retirement.plain["credential"] !== undefined;
    const handedOver = { ...done, isHandedOver: true, isOfRetirement };
    if (killedAfter === "deployment") return handedOver;
    const undo = undoOf(this.retirement);
    const ended = await this.#end();
    if (killedAfter === "deletes") undo();
    return { ...handedOver, ...ended };
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

  readonly #verify = async (): Promise<void> => {
    this.phase = "verification";
    if (this.program.verifies) await this.verification.up(this.#verificationInputs());
    else this.verification.saved = undefined;
  };

  readonly #changeRetirement = async ({ isForced, isDeletedFirst }: Up): Promise<void> => {
    const { retirement } = this;
    const { saved } = retirement;
    this.phase = "retirement";
    if (!this.program.retires) return;
    if (isForced) retirement.calls = replacing(retirement.calls);
    if (isDeletedFirst) retirement.calls = deletingFirst(retirement.calls, saved);
    await retirement.up(this.#retirementInputs());
    if (isDeletedFirst) retirement.replaced = retirement.replaced.filter((one) => one !== saved);
  };

  /** The end of a run: what was replaced is deleted, and what the program has not any more. */
  async #end(): Promise<Pick<Done, "isEnded" | "mayRetire" | "failures">> {
    const { retirement, program } = this;
    this.phase = "deletes";
    const accesses = retirement.replaced.map(({ outputs }) => revealed(outputs)["access"] as string);
    const mayRetire = program.retires && accesses.some((one) => (JSON.parse(one) as Properties)["current"]);
    const failure = await failureOf(program.retires ? retirement.end() : retirement.destroy());
    return { isEnded: true, mayRetire, failures: failure === undefined ? {} : { retirement: failure } };
  }

  async #preview(): Promise<void> {
    this.phase = "preview";
    for (const version of [unknownValue, undefined]) {
      this.#start();
      const inputs = { ...this.#inputs, ...(version && { version }) };
      const step = await this.rotation.preview(inputs).catch(() => undefined);
      if (version) this.fake.said.length = 0;
      const unknown = { access: unknownValue, [this.first.best]: unknownValue };
      const plain = step?.did === "same" ? this.rotation.plain : unknown;
      const { verifies, retires } = this.program;
      if (verifies) await this.verification.preview(this.#verificationInputs(plain)).catch(() => undefined);
      if (retires) await this.retirement.preview(this.#retirementInputs(plain)).catch(() => undefined);
    }
  }

  #verificationInputs({ access } = this.rotation.plain): Properties {
    return { access, withinSeconds: 1 };
  }

  #retirementInputs(plain = this.rotation.plain): Properties {
    return { access: plain["access"], credential: plain[this.first.best] };
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
    this.retirement.calls = this.#callsOf(adapter, "Retirement", run);
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

/** What puts the state of a stack back to what it is now. */
function undoOf(stack: Stack): () => void {
  const { saved, replaced } = stack;
  return () => Object.assign(stack, { saved, replaced });
}
