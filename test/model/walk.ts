import assert from "node:assert/strict";
import { type Team } from "../support/age";
import { withoutSecrets } from "../support/wire";
import { type Account, anyValue, type Change, type Delivery, honest, isHonest } from "./account";
import { type AdapterName, Deployment, type Done, nothingDone } from "./deployment";
import { Rules } from "./rules";
import { numbered, SavedReader } from "./saved";
import { plainProgram, plainSettings, plainUp, type Settings, type Step, type Subject } from "./steps";
import { isOnlyRead, overlaps, type Seen, type Taken } from "./taken";

interface Secret {
  readonly id: string;
  readonly account: Account;
  readonly rules: Rules;
}

/** A resource, its consumers and its verification over many runs of an adapter, and what must hold in each of them. */
export class Walk {
  readonly #deployment: Deployment;
  readonly #secrets: readonly Secret[];
  readonly #reader: SavedReader;
  /** The last version that was set, whether or not the program still has it. */
  #lastVersion = 1;
  #done = nothingDone;
  /** What the last step did, for the comparison of both adapters. */
  did: unknown;

  constructor(
    adapter: AdapterName,
    private readonly subject: Subject,
    team: Team,
    reached: Set<string>,
  ) {
    this.#deployment = new Deployment(adapter, subject, team);
    this.#reader = new SavedReader(subject, team);
    this.#secrets = [...this.#deployment.accounts].map(([id, account]) => {
      const rules = new Rules(subject, reached);
      const [value = ""] = [...account.validAt()].slice(-1);
      if (overlaps(subject)) rules.history.consumers = [{ value, place: "home", isOfRetirement: false, isOld: false }];
      return { id, account, rules };
    });
  }

  async take(step: Step): Promise<void> {
    if (step.do === "up" && step.isRefreshed) await this.take({ do: "refresh", deliveries: step.deliveries });
    const deployment = this.#deployment;
    const { fake, isFleet } = deployment;
    fake.said.length = 0;
    const earlier = await Promise.all(
      this.#secrets.map((secret, nth) => this.#begin(secret, deliveryOf(step, nth), step)),
    );
    this.#done = (await this.#take(step)) ?? nothingDone;
    deployment.phase = "other";
    const saved = await this.#reader.read(deployment.rotation);
    const { program, settings, ownToken, leakedAt } = deployment;
    for (const [nth, { id, account, rules }] of this.#secrets.entries()) {
      const isOwn = (value: string) => (isFleet ? value.includes(`-${id}-`) : true);
      const { announced, failures, ...done } = this.#done;
      const name = JSON.stringify(program.fleet[nth]);
      const lines = announced.split("\n").filter((line) => !isFleet || line.includes(name));
      const delivery = deliveryOf(step, nth);
      const taken: Taken = {
        ...done,
        ...(earlier[nth] ?? assert.fail()),
        subject: this.subject,
        account,
        after: saved.secrets.get(id),
        up: step.do === "up" ? step : undefined,
        announced: lines.join("\n"),
        said: [...fake.said],
        isHonest: isHonest(delivery) && !settings.isAway,
        failures: Object.entries(failures).flatMap(([of, why]) =>
          of === id || !deployment.accounts.has(of) ? why : [],
        ),
        program,
        settings,
        ownToken,
        leakedAt,
        now: fake.time.getTime(),
        inState: new Set([...saved.inState].filter(isOwn)),
        inFile: new Set([...saved.inFile].filter(isOwn)),
      };
      rules.check(taken);
      if (deployment.rotation.saved && !taken.after) rules.history.lose();
    }
    const isMade = (change: Change) =>
      change.request !== "retire" && change.mayBeApplied && !isOnlyRead(this.subject, change);
    const made = this.#secrets.flatMap(({ account }) => account.sent.filter(isMade).slice(0, 1));
    assert.ok(made.length <= (settings.maxResets ?? Infinity), "more resets than maxResetsPerRun");
    const { rotation, verification, retirement } = deployment;
    const outputs = [rotation, verification, retirement].map((stack) => stack.saved?.outputs ?? {});
    const shown = [...outputs.map((one) => JSON.stringify(withoutSecrets(one))), ...fake.said].join("\n");
    assert.doesNotMatch(shown, anyValue, "a secret in plain text");
    this.did = {
      step,
      sent: this.#secrets.map(({ account }) => [...account.sent]),
      done: this.#done,
      said: [...new Set(fake.said)].sort(),
      saved: [saved.text, numbered(verification.plain), numbered(retirement.plain)],
      replaced: retirement.replaced.length,
    };
  }

  async #begin({ id, account, rules }: Secret, delivery: Delivery, step: Step) {
    account.begin(delivery, rules.history.known, step.do === "up");
    const before = await this.#seen(id);
    return { before, validBefore: account.validAt(), backBefore: new Set(account.back) };
  }

  async #take(step: Step): Promise<Done | undefined> {
    const deployment = this.#deployment;
    const { fake, program, settings } = deployment;
    switch (step.do) {
      case "edit":
        deployment.program = { ...program, ...step.change };
        return;
      case "bump":
        deployment.program = { ...program, version: ++this.#lastVersion };
        return;
      case "leak":
        deployment.leakedAt = fake.time.toISOString();
        deployment.program = { ...program, isLeaked: true };
        return;
      case "set":
        deployment.settings = { ...settings, ...step.change };
        return;
      case "set own token":
        [deployment.ownToken] = step.isSet ? deployment.first.validAt() : [];
        return;
      case "wait":
        fake.time = new Date(fake.time.getTime() + step.hours * 3_600_000);
        return;
      case "others":
        for (const { account } of this.#secrets) account.changeByOthers(step.what);
        return;
      case "lose":
        await deployment.destroy();
        for (const { rules } of this.#secrets) rules.history.lose();
        return;
      case "destroy":
        return void (await deployment.tryDestroy());
      case "import":
        if (deployment.rotation.saved) return;
        await deployment.import();
        if (deployment.rotation.saved) for (const { rules } of this.#secrets) rules.history.isImported = true;
        return;
      case "refresh":
        return void (await deployment.refresh());
      case "up":
        return deployment.up(step);
    }
  }

  /** However a walk went: after an honest refresh and a new version, only what the consumers have is valid. */
  async finish(): Promise<void> {
    const { settings } = this.#deployment;
    const { secrets } = await this.#reader.read(this.#deployment.rotation);
    const [before] = secrets.values();
    const isUser = this.subject.shape === "redis";
    const place = isUser ? settings.place : ((before?.memory.kindFacts.account ?? "home") as Settings["place"]);
    await this.take({ do: "set", change: { ...plainSettings, place } });
    await this.take({ do: "set own token", isSet: false });
    await this.take({
      do: "edit",
      change: { ...plainProgram(this.subject), version: this.#lastVersion, minInterval: "0s" },
    });
    await this.take({ do: "refresh", deliveries: [] });
    for (const each of ["to be sure of its version", "the last one", "retires", "quiet"]) {
      if (each === "to be sure of its version" || each === "the last one") await this.take({ do: "bump" });
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
      const current = account.credentialsAt(place).find((one) => Object.values(one).includes(value));
      const saved = Object.keys(current ?? {}).map((name) => [name, outputs[name]]);
      assert.deepEqual(Object.fromEntries(saved), current);
    }
  }

  /** A secret in the outputs of the resource. */
  async #seen(id: string): Promise<Seen | undefined> {
    return (await this.#reader.read(this.#deployment.rotation)).secrets.get(id);
  }
}

function deliveryOf(step: Step, nth: number): Delivery {
  return ("deliveries" in step ? step.deliveries[nth] : undefined) ?? honest;
}
