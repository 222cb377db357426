import assert from "node:assert/strict";
import { unknownValue } from "../../provider/pulumi/values";
import { type Team } from "../support/age";
import { FakeRun } from "../support/fakeRun";
import { type EngineCalls, Stack } from "../support/stack";
import { type Properties, withoutSecrets } from "../support/wire";
import { type Account, anyValue, honest, type Kind, type KindName, kinds, valuesIn } from "./account";
import { dynamicCalls, forced, pluginCalls, twice } from "./adapterCalls";
import { Secret, type Seen, seenIn } from "./secret";
import { plainSettings, plainUp, type Program, type Settings, type Step, type Up } from "./steps";

/** One resource over many runs of an adapter, and what must hold in each of them. */
export class Walk {
  readonly #fake = new FakeRun();
  readonly #kind: Kind;
  readonly #isFleet: boolean;
  readonly #secrets: readonly Secret[];
  readonly #stack: Stack;
  #program: Program = {
    version: 1,
    isText: false,
    form: "saved",
    rotateEvery: undefined,
    isLeaked: false,
    initialRotation: true,
    minInterval: undefined,
    fleet: ["a", "b"],
  };
  #settings: Settings = { place: "home", ...plainSettings };
  /** The last version that was set, whether or not the program still has it. */
  #lastVersion = 1;
  /** Why the last `up` failed, by the id of the secret. */
  #failures: Readonly<Record<string, string | undefined>> = {};
  /** Whether rekey:queueToken was reset although it was known to be that. */
  #isOwnTokenReset = false;
  /** What the last step did, for the comparison of both adapters. */
  did: unknown;

  constructor(
    private readonly adapter: "dynamic" | "plugin",
    private readonly kindName: KindName,
    private readonly team: Team,
    reached: Set<string>,
  ) {
    this.#kind = kinds[kindName];
    this.#isFleet = kindName === "PasswordRotationFleet";
    this.#secrets = this.#kind.ids.map((id) => new Secret(this.#kind, id, reached));
    this.#fake.readDatabase = (id) => this.#accountOf(id).read();
    this.#fake.answer = (id) => {
      const { token } = this.#accountOf(id).current;
      const isKnown = this.#stack.plain["token"] === token || this.#accountOf(id).showed("token", token);
      this.#isOwnTokenReset ||= this.#settings.isOwnToken && isKnown;
      return this.#accountOf(id).reset();
    };
    this.#stack = new Stack(this.#calls());
  }

  async take(step: Step): Promise<void> {
    if (step.do === "up" && step.isRefreshed) await this.take({ do: "refresh", deliveries: step.deliveries });
    const { said, resets } = this.#fake;
    said.length = resets.length = 0;
    const deliveries = "deliveries" in step ? step.deliveries : [];
    for (const [nth, secret] of this.#secrets.entries()) secret.begin(deliveries[nth], this.#settings);
    const before = this.#seen();
    const announced = await this.#take(step);
    const after = this.#seen();
    const saved = await this.#saved();
    const inFile = valuesIn(saved["encryptedCredentials"]);
    const inState = valuesIn({ ...saved, encryptedCredentials: undefined });
    for (const [nth, secret] of this.#secrets.entries()) {
      const name = JSON.stringify(this.#program.fleet[nth]);
      const about = announced?.filter((line) => !this.#isFleet || line.includes(name)).join("\n");
      const taken = {
        before: before[nth],
        after: after[nth],
        announced: about,
        isKilled: step.do === "up" && step.isKilled,
        requests: resets.filter((id) => id === secret.id).length,
        failure: this.#failures[secret.id],
        program: this.#program,
        settings: this.#settings,
        now: this.#fake.time.getTime(),
      };
      secret.check(taken, inState, inFile);
      if (this.#stack.saved && !after[nth]) secret.lose();
    }
    const sent = this.#secrets.reduce((sum, secret) => sum + secret.accountAt(this.#settings).sent, 0);
    assert.ok(sent <= (this.#settings.maxResets ?? Infinity), "more resets than maxResetsPerRun");
    assert.ok(!this.#isOwnTokenReset, "the token in use was reset");
    const shown = [JSON.stringify(withoutSecrets(this.#stack.saved?.outputs ?? {})), ...said].join("\n");
    assert.doesNotMatch(shown, anyValue, "a secret in plain text");
    this.did = { step, saved: numbered(saved), said: [...new Set(said)].sort(), resets: [...resets].sort() };
  }

  /** @returns what the preview of an `up` says; undefined for other steps */
  async #take(step: Step): Promise<string[] | undefined> {
    switch (step.do) {
      case "edit":
        this.#program = { ...this.#program, ...step.change };
        return;
      case "bump":
        this.#program = { ...this.#program, version: ++this.#lastVersion };
        return;
      case "set":
        this.#settings = { ...this.#settings, ...step.change };
        return;
      case "wait":
        this.#fake.time = new Date(this.#fake.time.getTime() + step.hours * 3_600_000);
        return;
      case "change":
        for (const secret of this.#secrets) secret.accountAt(this.#settings).change(step.times);
        return;
      case "lose":
        this.#stack.calls = this.#calls();
        await this.#stack.destroy();
        for (const secret of this.#secrets) secret.lose();
        return;
      case "import":
        return this.#import();
      case "refresh":
        this.#stack.calls = this.#calls();
        if (this.#stack.saved) await this.#stack.refresh();
        return;
      case "up":
        return this.#up(step);
    }
  }

  /** However a walk went: after an honest refresh and a new version, the state is in step, with nothing left to do. */
  async finish(): Promise<void> {
    const seen = this.#seen().find((one) => one !== undefined);
    const place = (seen?.place ?? "home") as Settings["place"];
    await this.take({ do: "set", change: { place, ...plainSettings } });
    const quiet = { form: "saved", rotateEvery: undefined, isLeaked: false, minInterval: "0s" } as const;
    await this.take({ do: "edit", change: { ...quiet, fleet: ["a", "b"] } });
    const deliveries = this.#secrets.map(() => honest);
    await this.take({ do: "refresh", deliveries });
    for (const each of ["to be sure of its version", "the last one", "quiet"]) {
      if (each !== "quiet") await this.take({ do: "bump" });
      await this.take({ ...plainUp, deliveries });
      for (const { id } of this.#secrets) assert.equal(this.#failures[id], undefined, each);
    }
    assert.deepEqual(this.#fake.resets, [], "nothing is left to do");
    for (const [nth, one] of this.#seen().entries()) {
      const { current } = this.#accountOf(this.#secrets[nth]?.id);
      assert.equal(one?.outcome, "reset");
      assert.deepEqual(Object.fromEntries(this.#kind.names.map((name) => [name, one?.[name]])), current);
    }
  }

  async #import(): Promise<undefined> {
    if (this.#stack.saved) return;
    // Only the plugin can import.
    const stack = new Stack(this.#calls("plugin"));
    this.#stack.saved = await stack.import(this.#kind.ids[0] ?? "").catch(() => undefined);
    if (this.#isFleet) assert.equal(this.#stack.saved, undefined, "a fleet was imported");
    if (this.#stack.saved) for (const secret of this.#secrets) secret.import();
  }

  async #up({ isRepeated, isForced, isKilled }: Up): Promise<string[]> {
    const { said, resets } = this.#fake;
    const accounts = this.#secrets.map((secret) => secret.accountAt(this.#settings));
    for (const account of accounts) account.forget();
    for (const version of [unknownValue, undefined]) {
      this.#stack.calls = this.#calls();
      await this.#stack.preview({ ...this.#inputs, ...(version && { version }) }).catch(() => undefined);
      assert.deepEqual(resets, [], "a preview sent a reset");
      if (version) said.length = 0;
    }
    const announced = said.splice(0);
    const { saved } = this.#stack;
    let calls = this.#calls();
    if (isForced) calls = forced(calls);
    if (isRepeated) calls = twice(calls);
    this.#stack.calls = calls;
    const failure = await this.#stack.up(this.#inputs).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const states = Object.values((this.#stack.plain["states"] ?? {}) as Record<string, Properties>);
    const errorOf = (id: string) => states.find(({ databaseId }) => databaseId === id)?.["error"] as string | undefined;
    // Of a fleet, the SDK's class fails the program.
    const isSaved = this.#isFleet && this.#stack.saved !== saved;
    const failureOf = (id: string) => (isSaved ? errorOf(id) : failure);
    this.#failures = Object.fromEntries(this.#secrets.map(({ id }) => [id, failureOf(id)]));
    said.push(`failures: ${JSON.stringify(this.#failures)}`);
    if (isKilled) this.#stack.saved = saved;
    else for (const account of accounts) account.save();
    return announced;
  }

  get #inputs(): Properties {
    const { version, isText, form, isLeaked, minInterval, fleet, ...others } = this.#program;
    const { ids, idInput } = this.#kind;
    const isHidden = form === "hidden" || form === "encrypted";
    const databases = Object.fromEntries(fleet.map((name, nth) => [name, ids[nth]]));
    return {
      ...(idInput !== undefined && { [idInput]: this.#isFleet ? databases : ids[0] }),
      ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)),
      // The rules of the walk are those of a secret that a reset replaces.
      ...(this.kindName === "QueueTokenRotation" && { overlap: "none" }),
      ...(minInterval && this.kindName === "SigningKeyRotation" && { minInterval }),
      ...(version > 0 && { version: isText ? String(version) : version }),
      ...(isHidden && { saveCredentials: false }),
      ...(form.includes("encrypted") && { encryptFor: [this.team.recipient] }),
      ...(isLeaked && { rotatedSince: this.#fake.time.toISOString() }),
    };
  }

  #accountOf(id: string | undefined): Account {
    const secret = this.#secrets.find((one) => one.id === id) ?? assert.fail(`unknown: ${id}`);
    return secret.accountAt(this.#settings);
  }

  #seen(): (Seen | undefined)[] {
    return this.#secrets.map(({ id }) => seenIn(this.#stack.plain, id, this.#isFleet));
  }

  /** The outputs, with what is in age files. */
  async #saved(): Promise<Properties> {
    const { __provider, encryptedCredentials, ...outputs } = this.#stack.plain;
    if (encryptedCredentials === undefined) return outputs;
    const files = this.#isFleet ? (encryptedCredentials as Properties) : { it: encryptedCredentials };
    const decrypted = Object.entries(files).map(async ([name, file]) => [name, await this.team.decrypt(file)] as const);
    return { ...outputs, encryptedCredentials: Object.fromEntries(await Promise.all(decrypted)) };
  }

  /** A process of the adapter that was just started. */
  #calls(adapter = this.adapter): EngineCalls {
    const { place, canRead, scheduledResets, maxResets, isOwnToken } = this.#settings;
    const token = isOwnToken ? this.#accountOf(this.#kind.ids[0]).current.token : undefined;
    this.#fake.canRead = canRead;
    this.#fake.settings = {
      deadlineSeconds: "2",
      scheduledResets,
      maxResetsPerRun: maxResets?.toString(),
      ...(token && { queueToken: token, queueUserId: undefined }),
    };
    this.#fake.queueAccount = { account: place, address: `https://${place}` };
    const run = this.#fake.start();
    return adapter === "dynamic" ? dynamicCalls(this.kindName, run) : pluginCalls(this.kindName, run, this.#fake.said);
  }
}

/** Outputs as text, with marks and salts by the order in which they occur. */
export function numbered(outputs: Properties): string {
  const marks: string[] = [];
  const sorted = Object.fromEntries(Object.entries(outputs).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify(sorted).replace(/(?<=\\")([\w-]{36}|[\w-]{16})(?=\\")/g, (mark) => {
    if (!marks.includes(mark)) marks.push(mark);
    return `mark ${marks.indexOf(mark)}`;
  });
}
