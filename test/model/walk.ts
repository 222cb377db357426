import assert from "node:assert/strict";
import { createProviders } from "../../provider/engine/dynamic";
import { PluginService } from "../../provider/engine/plugin/service";
import { readMemory } from "../../provider/rotation/memory";
import { unknownValue } from "../../provider/records/properties";
import { type Run } from "../../provider/run";
import { type Team } from "../support/age";
import { FakeRun } from "../support/fakeRun";
import { type EngineCalls, Stack } from "../support/stack";
import { type Properties, revealed, urnOf, withoutSecrets } from "../support/wire";
import { Account, type Deliveries, honest, type KindName, kinds } from "./account";

/** Two addresses of one account, and another account. */
export const places = ["home", "the other address", "elsewhere"] as const;

/** What a program asks for. */
export interface Program {
  /** 0 for none. */
  readonly version: number;
  readonly form: "saved" | "hidden" | "encrypted" | "saved and encrypted";
  readonly rotateEvery: "12h" | undefined;
  /** Whether what is older than now is reset. */
  readonly isLeaked: boolean;
  readonly initialRotation: boolean;
  readonly minInterval: "0s" | undefined;
}

/** The settings of a run. */
export interface Settings {
  readonly place: (typeof places)[number];
  readonly canRead: boolean;
  readonly scheduledResets: "on" | "off";
  readonly maxResets: 0 | undefined;
}

/** A step of a walk, in plain data. */
export type Step =
  | ({
      readonly do: "up";
      readonly isRefreshed: boolean;
      readonly isRepeated: boolean;
      readonly isKilled: boolean;
    } & Deliveries)
  | ({ readonly do: "refresh" } & Deliveries)
  | { readonly do: "edit"; readonly change: Partial<Program> }
  | { readonly do: "bump" }
  | { readonly do: "set"; readonly change: Partial<Settings> }
  | { readonly do: "wait"; readonly hours: number }
  | { readonly do: "change"; readonly times: number }
  /** The resource leaves the state, as a rename does. */
  | { readonly do: "lose" }
  | ({ readonly do: "import" } & Deliveries);

/** A marker for the values of a walk. */
const anyValue = /value-\d+-\w/g;

/** One resource over many runs of an adapter, and what must hold in each of them. */
export class Walk {
  readonly #fake = new FakeRun();
  readonly #accounts: { readonly home: Account; readonly elsewhere: Account };
  readonly #stack: Stack;
  #program: Program = {
    version: 1,
    form: "saved",
    rotateEvery: undefined,
    isLeaked: false,
    initialRotation: true,
    minInterval: undefined,
  };
  #settings: Settings = { place: "home", canRead: true, scheduledResets: "on", maxResets: undefined };
  /** The last version that was set, whether or not the program still has it. */
  #lastVersion = 1;
  /** Versions of the last confirmed reset or adoption, and of the last reset that was sent. */
  #applied: number | undefined;
  #attempted: number | undefined;
  /** Credentials that were in the state, and, of these, those that a confirmed reset has replaced. */
  #result: string | undefined;
  readonly #known = new Set<string>();
  readonly #former = new Set<string>();
  /** What each step did, for the comparison of both adapters. */
  readonly log: unknown[] = [];

  constructor(
    readonly adapter: "dynamic" | "plugin",
    private readonly kind: KindName,
    private readonly team: Team,
  ) {
    const of = kinds[kind];
    this.#accounts = { home: new Account(of, 1), elsewhere: new Account(of, 1001) };
    this.#fake.readDatabase = () => this.#account.read();
    this.#fake.answer = () => this.#account.reset();
    this.#fake.deadlineMs = 2_000;
    this.#stack = new Stack(this.#calls());
  }

  get #account(): Account {
    return this.#settings.place === "elsewhere" ? this.#accounts.elsewhere : this.#accounts.home;
  }

  async take(step: Step): Promise<void> {
    if (step.do === "up" && step.isRefreshed) await this.take({ ...step, do: "refresh" });
    const { said, resets } = this.#fake;
    said.length = resets.length = 0;
    for (const one of Object.values(this.#accounts)) one.begin("reads" in step ? step : honest, this.#known);
    const before = this.#stack.plain;
    const announced = (await this.#take(step)).join("\n");
    if (step.do === "up") this.#checkResets(announced, step.outcome);
    else assert.deepEqual(resets, [], `${step.do} sent a reset`);
    const after = this.#stack.plain;
    if (Number(after["rotationCount"] ?? 0) > Number(before["rotationCount"] ?? 0)) this.#confirm();
    const isAdopted = step.do === "up" && after["adoptedAt"] && !before["adoptedAt"] && resets.length === 0;
    if (announced.includes("was imported") || isAdopted) this.#applied = this.#program.version;
    await this.#checkValues(step);
    const shown = [JSON.stringify(withoutSecrets(this.#stack.saved?.outputs ?? {})), ...said].join("\n");
    assert.doesNotMatch(shown, anyValue, "a secret in plain text");
    this.log.push({
      step,
      outputs: await this.#comparable(this.#stack.plain),
      said: [...new Set(said)].sort(),
      resets: [...resets],
    });
  }

  async #take(step: Step): Promise<string[]> {
    switch (step.do) {
      case "edit":
        this.#program = { ...this.#program, ...step.change };
        return [];
      case "bump":
        this.#program = { ...this.#program, version: ++this.#lastVersion };
        return [];
      case "set":
        this.#settings = { ...this.#settings, ...step.change };
        return [];
      case "wait":
        this.#fake.time = new Date(this.#fake.time.getTime() + step.hours * 3_600_000);
        return [];
      case "change":
        this.#account.change(step.times);
        return [];
      case "lose":
        return this.#lose();
      case "import":
        return this.#import();
      case "refresh":
        return this.#refresh();
      case "up":
        return this.#up(step);
    }
  }

  /** However a walk went: after an honest refresh and a new version, the state is in step, with nothing left to do. */
  async finish(): Promise<void> {
    const { memory } = this.#stack.plain;
    const place = memory === undefined ? "home" : (readMemory(memory).place?.account as Settings["place"]);
    await this.take({ do: "set", change: { place, canRead: true, scheduledResets: "on", maxResets: undefined } });
    const quiet = { form: "saved", rotateEvery: undefined, isLeaked: false, minInterval: "0s" } as const;
    await this.take({ do: "edit", change: quiet });
    await this.take({ do: "refresh", ...honest });
    const up: Step = { do: "up", isRefreshed: false, isRepeated: false, isKilled: false, ...honest };
    for (const each of ["to be sure of its version", "the last one", "quiet"]) {
      if (each !== "quiet") await this.take({ do: "bump" });
      await this.take(up);
      assert.equal(this.#result, undefined, each);
    }
    assert.deepEqual(this.#fake.resets, [], "nothing is left to do");
    const { outcome, ...outputs } = this.#stack.plain;
    assert.equal(outcome, "reset");
    const names = Object.keys(this.#account.current);
    assert.deepEqual(Object.fromEntries(names.map((name) => [name, outputs[name]])), this.#account.current);
  }

  #lose(): string[] {
    this.#stack.saved = undefined;
    for (const one of Object.values(this.#accounts)) one.delivered.clear();
    this.#known.clear();
    this.#former.clear();
    this.#applied = this.#attempted = undefined;
    return [];
  }

  async #import(): Promise<string[]> {
    if (this.#stack.saved) return [];
    // Only the plugin can import.
    const stack = new Stack(this.#calls("plugin"));
    const adopted = await stack.import(kinds[this.kind].id).catch(() => undefined);
    this.#stack.saved = adopted;
    return [];
  }

  async #refresh(): Promise<string[]> {
    if (this.#stack.saved === undefined) return [];
    this.#stack.calls = this.#calls();
    await this.#stack.refresh();
    return [];
  }

  /** @returns what a preview says of it */
  async #up({ isRepeated, isKilled }: Extract<Step, { do: "up" }>): Promise<string[]> {
    const { said, resets } = this.#fake;
    this.#account.forget();
    for (const version of [unknownValue, undefined]) {
      this.#stack.calls = this.#calls();
      await this.#stack.preview({ ...this.#inputs, ...(version && { version }) }).catch(() => undefined);
      assert.deepEqual(resets, [], "a preview sent a reset");
      if (version) said.length = 0;
    }
    const announced = said.splice(0);
    const { saved } = this.#stack;
    const calls = this.#calls();
    this.#stack.calls = isRepeated ? twice(calls) : calls;
    this.#result = await this.#stack.up(this.#inputs).then(
      () => undefined,
      (error: Error) => error.message,
    );
    said.push(`result: ${this.#result}`);
    if (isKilled) this.#stack.saved = saved;
    else this.#account.save();
    return announced;
  }

  get #inputs(): Properties {
    const { version, form, isLeaked, minInterval, ...others } = this.#program;
    const hidden = form === "hidden" || form === "encrypted";
    return {
      ...kinds[this.kind].inputs,
      ...defined(others),
      ...(minInterval && this.kind === "SigningKeyRotation" && { minInterval }),
      ...(version > 0 && { version }),
      ...(hidden && { saveCredentials: false }),
      ...(form.includes("encrypted") && { encryptFor: [this.team.recipient] }),
      ...(isLeaked && { rotatedSince: this.#fake.time.toISOString() }),
    };
  }

  /** No reset that the preview did not announce, at most one in a run, and one for each version. */
  #checkResets(announced: string, outcome: Deliveries["outcome"]): void {
    const { resets } = this.#fake;
    const isOpen = outcome === "rejected" || outcome === "not sent";
    assert.ok(resets.length <= (isOpen ? 2 : 1), "more than one reset in a run");
    if (announced.includes("version or triggers have changed")) {
      assert.notEqual(this.#program.version, this.#applied, "a version is applied twice");
    }
    if (resets.length === 0) return;
    assert.match(announced, /(will|may|may then) be (reset|rolled)/, "a reset that was not announced");
    this.#attempted = this.#program.version || this.#attempted;
    // A new memory begins here: nothing of the other account is remembered.
    for (const account of Object.values(this.#accounts)) if (account !== this.#account) account.delivered.clear();
  }

  /** All known generations of the account before its current one are former. */
  #confirm(): void {
    const isClaimed = this.#fake.said.some((line) => line.includes("was rolled once since the last"));
    this.#applied = (isClaimed ? undefined : this.#attempted) ?? this.#program.version;
    const current = valuesOf(this.#account);
    for (const value of this.#known) if (this.#account.has(value) && !current.includes(value)) this.#former.add(value);
  }

  /** No value that was delivered is lost, and none that a confirmed reset has replaced is saved. */
  async #checkValues(step: Step): Promise<void> {
    if (this.#stack.saved === undefined) return;
    const { encryptedCredentials, ...outputs } = this.#stack.plain;
    const [inState, inFile] = [valuesIn(outputs), valuesIn(await this.#file(encryptedCredentials))];
    const saved = new Set([...inState, ...inFile]);
    for (const { delivered, shown, current } of Object.values(this.#accounts)) {
      for (const value of Object.values(current) as string[]) {
        if (delivered.has(value) && !shown.has(value)) assert.ok(saved.has(value), `${value} is lost`);
      }
    }
    for (const value of saved) {
      assert.ok(!this.#former.has(value), `the former ${value} is saved`);
      this.#known.add(value);
    }
    const isHidden = step.do === "up" && this.#inputs["saveCredentials"] === false;
    if (!isHidden || this.#result !== undefined || step.isKilled) return;
    for (const name of Object.keys(this.#account.current)) {
      const value = outputs[name] as string | undefined;
      const isElsewhere = value !== undefined && (inFile.has(value) || this.#account.showed(name, value));
      assert.ok(!isElsewhere, `${name} stays, although it is elsewhere`);
    }
  }

  async #file(encrypted: unknown): Promise<Properties | undefined> {
    return encrypted === undefined ? undefined : this.team.decrypt(encrypted);
  }

  /** The outputs with their age file in plain text, and marks and salts by the order in which they occur. */
  async #comparable({ __provider, encryptedCredentials, ...outputs }: Properties): Promise<string> {
    const file = await this.#file(encryptedCredentials);
    const marks: string[] = [];
    const numbered = (mark: string): string => {
      if (!marks.includes(mark)) marks.push(mark);
      return `mark ${marks.indexOf(mark)}`;
    };
    const sorted = Object.fromEntries(Object.entries({ ...outputs, file }).sort(([a], [b]) => (a < b ? -1 : 1)));
    return JSON.stringify(sorted).replace(/(?<=\\")([\w-]{22}|[\w-]{16})(?=\\")/g, numbered);
  }

  /** A process of the adapter that was just started. */
  #calls(adapter = this.adapter): EngineCalls {
    const { place, canRead, scheduledResets, maxResets } = this.#settings;
    Object.assign(this.#fake, { canRead, scheduledResets, maxResets });
    const address = `https://${place}`;
    this.#fake.place = this.kind === "SigningKeyRotation" ? { account: place, address } : { account: place };
    const run = this.#fake.start();
    return adapter === "dynamic" ? dynamicCalls(this.kind, run) : pluginCalls(this.kind, run, this.#fake.said);
  }
}

function valuesIn(outputs: unknown): Set<string> {
  return new Set(JSON.stringify(outputs ?? {}).match(anyValue));
}

function valuesOf({ current }: Account): string[] {
  return Object.values(current) as string[];
}

function defined(values: object): Properties {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** An engine that repeats each change, as an error hook does. */
function twice(calls: EngineCalls): EngineCalls {
  const again = async <T>(change: () => Promise<T>): Promise<T> => {
    await change().catch(() => undefined);
    return change();
  };
  return {
    ...calls,
    create: (inputs, preview) => again(() => calls.create(inputs, preview)),
    update: (id, olds, inputs, preview) => again(() => calls.update(id, olds, inputs, preview)),
  };
}

const __provider = "exports.handler = …";

function dynamicCalls(kind: KindName, run: Run): EngineCalls {
  const name = `${kind.slice(0, 1).toLowerCase()}${kind.slice(1)}` as keyof ReturnType<typeof createProviders>;
  const provider = createProviders(() => run)[name];
  void provider.configure({ config: { get: () => undefined } as never });
  const given = (outputs: Properties): Properties => ({ ...revealed(outputs), __provider });
  return {
    previews: false,
    check: async (news, olds) => {
      const { inputs = {}, failures = [] } = await provider.check(olds, given(news));
      return { inputs, problems: failures.map(({ reason }) => reason) };
    },
    diff: async (id, olds, inputs) => {
      const { changes = false, replaces = [] } = await provider.diff(id, given(olds), inputs);
      return { changes, replaces };
    },
    create: async (inputs) => {
      const { id, outs = {} } = await provider.create(inputs);
      return { id, outputs: outs };
    },
    update: async (id, olds, inputs) => ({ id, outputs: (await provider.update(id, given(olds), inputs)).outs ?? {} }),
    read: async (id, olds) => ({ id, outputs: (await provider.read(id, given(olds))).props ?? {} }),
    delete: (id, olds) => provider.delete(id, given(olds)),
  };
}

function pluginCalls(kind: KindName, run: Run, said: string[]): EngineCalls {
  const service = new PluginService(
    {
      show: async ({ text, isWarning }) => void said.push(isWarning ? `warning: ${text}` : text),
      showError: async (text) => void said.push(`error: ${text}`),
      requireEngine: async () => undefined,
    },
    () => run,
  );
  service.configure("urn:pulumi:test::project::pulumi:providers:rekey::own", {});
  const urn = urnOf(kind);
  const change = (inputs: Properties, preview: boolean) => ({ urn, inputs, preview, timeoutSeconds: 0 });
  return {
    previews: true,
    check: async (inputs) => service.check(urn, inputs),
    diff: (id, outputs, inputs) => service.diff(urn, { id, outputs }, inputs),
    create: (inputs, preview) => service.change(change(inputs, preview)),
    update: (id, outputs, inputs, preview) => service.change(change(inputs, preview), { id, outputs }),
    read: (id, outputs, inputs) => service.read(urn, { id, outputs }, inputs),
    delete: (_id, olds) => service.delete(urn, olds),
  };
}
