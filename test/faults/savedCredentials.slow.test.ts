import assert from "node:assert/strict";
import { failingEncryption, Team } from "../support/age";
import { leaksOf } from "../support/canaries";
import { type Host, providerTexts, type Result } from "../support/host";
import { type Behaviour, resetting } from "../support/httpServer";
import { databaseText } from "../support/platformBodies";
import { configurationFor, rotation } from "../support/resources";
import { type Properties, revealed } from "../support/wire";
import { assertNoSecrets, testRow } from "./describeFaults";
import { type Fixture } from "./fixture";

const id = "db";
/** A fixture finds the type of a saved resource by this text. */
const text = { __provider: providerTexts.passwordRotation };

/** A database whose credentials are encrypted for a team, and never saved. */
class Encrypted {
  saved: Properties = {};
  #generation = 0;
  /** All that were ever issued. */
  readonly #canaries: Record<string, string> = {};

  private constructor(
    readonly fixture: Fixture,
    readonly team: Team,
  ) {}

  static async start(fixture: Fixture, preload = ""): Promise<Encrypted> {
    const encrypted = new Encrypted(fixture, await Team.create());
    const bodyOf = (method: string) => {
      if (method === "POST") encrypted.#generation++;
      return databaseText({ database_id: id, ...encrypted.credentials });
    };
    await fixture.start({ server: { bodyOf }, preload });
    return encrypted;
  }

  get credentials() {
    const [password, rest_token] = ["password", "token"].map((name) => `canary-${name}-${this.#generation}-of-db`);
    Object.assign(this.#canaries, { [password ?? ""]: password, [rest_token ?? ""]: rest_token });
    return { password, rest_token };
  }

  inputs(version: number): Properties {
    return rotation(id, { version, saveCredentials: false, encryptFor: [this.team.recipient] });
  }

  /** Creates or updates, and saves the result. */
  async up(version: number, kind: Result["kind"] = "done", host: Host = this.fixture.host): Promise<string> {
    const inputs = this.inputs(version);
    const isSaved = Object.keys(this.saved).length > 0;
    const result = await (isSaved ? host.update(id, { ...this.saved, ...text }, inputs) : host.create(inputs));
    assertNoSecrets(this.fixture, result);
    assert.equal(result.kind, kind, JSON.stringify(result));
    if (result.kind === "failed") return result.message;
    this.saved = revealed(result.outs);
    return result.kind === "init error" ? result.message : "";
  }

  /** Another process of the adapter, in which encryption works: the next run. */
  nextRun(): Promise<Host> {
    const { url } = this.fixture.server;
    const account = { url, username: "owner@example.com", password: "canary-management-password", queueToken: "" };
    return this.fixture.startHost({ config: configurationFor(account) });
  }

  assertSent(resets: number): void {
    assert.equal(this.fixture.server.count("POST", id), resets);
  }

  /** Nothing that is saved or was shown has a credential, in whatever form. */
  assertHidden(): void {
    const { stderr, engine } = this.fixture.host;
    const shown = [JSON.stringify(this.saved), stderr, engine.received].join("\n");
    assert.deepEqual(leaksOf(shown, this.#canaries), []);
  }

  /** Asserts that only the file has the credentials. */
  async assertEncrypted({ password, rest_token: restToken } = this.credentials): Promise<void> {
    this.assertHidden();
    const found = await this.team.decrypt(this.saved["encryptedCredentials"]);
    assert.deepEqual({ password: found["password"], restToken: found["restToken"] }, { password, restToken });
  }

  meet(behaviour: Behaviour | undefined): void {
    this.fixture.server.behave("POST", id, behaviour ?? (({ answer }) => answer(200)));
  }
}

describe("faults: credentials that are not saved", () => {
  testRow(
    [
      100,
      "reset after the request was read, without a read",
      "create, update, next up",
      "may have been applied, the former file stays; 1 sent",
    ],
    async (fixture) => {
      const one = await Encrypted.start(fixture);
      one.meet(resetting);
      await one.up(1, "init error");
      one.assertHidden();
      assert.equal(one.saved["encryptedCredentials"], undefined);
      one.meet(undefined);
      await one.up(2);
      await one.assertEncrypted();
      const former = one.credentials;
      one.meet(resetting);
      assert.match(await one.up(3, "init error"), /sends one more reset/);
      await one.assertEncrypted(former);
      one.assertSent(3);
      one.meet(undefined);
      await one.up(3, "done", await one.nextRun());
      await one.assertEncrypted();
      one.assertSent(4);
    },
  );

  testRow(
    [102, "encryption fails after the reset", "create, update, next up", "saved as secrets, then encrypted; 1 sent"],
    async (fixture) => {
      const one = await Encrypted.start(fixture, failingEncryption("credentials"));
      for (const version of [1, 2]) {
        assert.match(await one.up(version, "init error"), /could not be encrypted.*The next `up` tries again/s);
        const { password, rest_token: restToken } = one.credentials;
        const { saved } = one;
        assert.deepEqual({ ...saved, password, restToken, outcome: "reset", rotationCount: version }, saved);
        const host = await one.nextRun();
        assert.equal((await host.diff(id, { ...saved, ...text }, one.inputs(version))).changes, "some");
        await one.up(version, "done", host);
        await one.assertEncrypted();
        assert.equal((await host.diff(id, { ...one.saved, ...text }, one.inputs(version))).changes, "none");
        one.assertSent(version);
      }
    },
  );

  testRow([104, "nothing can be encrypted", "create, update", "fails, state kept; 0 sent"], async (fixture) => {
    const one = await Encrypted.start(fixture, failingEncryption("everything"));
    const notSent = /nothing can be encrypted for one of encryptFor.*REKEY_NOT_ENCRYPTED/s;
    assert.match(await one.up(1, "failed"), notSent);
    one.assertSent(0);
    await one.up(1, "done", await one.nextRun());
    assert.match(await one.up(2, "failed"), notSent);
    await one.assertEncrypted();
    one.assertSent(1);
  });
});
