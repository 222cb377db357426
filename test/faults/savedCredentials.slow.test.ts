import assert from "node:assert/strict";
import { Team } from "../support/age";
import { leaksOf } from "../support/canaries";
import { type Host } from "../support/host";
import { type Behaviour } from "../support/httpServer";
import { databaseText } from "../support/platformBodies";
import { databasePath } from "../support/resources";
import { hostCalls, Stack } from "../support/stack";
import { type Properties, withoutSecrets } from "../support/wire";
import { InitError } from "../../provider/engine/adapter";
import { testRow } from "./describeFaults";
import { canaries, type Fixture, type FixtureOptions } from "./fixture";

const id = "db";

/** What a read shows, as with the vendor's credential protection. A response to a reset shows everything. */
const readings = {
  "hides all": () => ({}),
  "hides the token": ({ password }: Properties) => ({ password }),
  "shows all": (all: Properties) => all,
};

/** A database whose credentials are not saved. */
class Database {
  reading: keyof typeof readings = "shows all";
  #generation = 0;
  /** All credentials that were ever issued. */
  readonly #issued: Record<string, string> = {};
  #stack!: Stack;

  constructor(
    readonly fixture: Fixture,
    public inputs: Properties,
  ) {}

  async start(options: FixtureOptions = {}): Promise<this> {
    const bodyOf = (method: string): string => this.body(method);
    const { host } = await this.fixture.start({ server: { bodyOf }, ...options });
    this.#stack = new Stack(hostCalls(host, "PasswordRotation"));
    return this;
  }

  body(method: string): string {
    if (method === "POST") this.#generation++;
    const { password, restToken: rest_token } = this.credentials;
    const all = { password, rest_token };
    return databaseText({ database_id: id, ...(method === "POST" ? all : readings[this.reading](all)) });
  }

  get credentials() {
    const [password, restToken] = ["password", "token"].map((name) => `canary-${name}-${this.#generation}-of-db`);
    Object.assign(this.#issued, { [password ?? ""]: password, [restToken ?? ""]: restToken });
    return { password, restToken };
  }

  get saved(): Properties {
    return this.#stack.plain;
  }

  /** Runs `up`, which must end so. @returns what was done, or the message of the failure */
  async up(version: number, kind: "done" | "init error" | "failed" = "done", host?: Host): Promise<string> {
    this.#stack.calls = hostCalls(host ?? this.fixture.host, "PasswordRotation");
    let ended = "done";
    const said = await this.#stack.up({ databaseId: id, version, ...this.inputs }).then(
      ({ did }) => did,
      (error: Error) => {
        ended = error instanceof InitError ? "init error" : "failed";
        return error.message;
      },
    );
    assert.equal(ended, kind, said);
    const shown = JSON.stringify(withoutSecrets(this.#stack.saved?.outputs ?? {})) + said + this.fixture.host.said;
    assert.deepEqual(leaksOf(shown, { ...canaries, ...this.#issued }), []);
    return said;
  }

  async refresh(): Promise<void> {
    await this.#stack.refresh();
  }

  meet(behaviour: Behaviour): void {
    this.fixture.server.behave("POST", id, behaviour);
  }

  assertSent(resets: number): void {
    assert.equal(this.fixture.server.count("POST", id), resets);
  }

  /** Nothing that is saved has a credential, in whatever form. */
  assertHidden(): void {
    assert.deepEqual(leaksOf(JSON.stringify(this.saved), this.#issued), []);
  }

  /** Asserts that only the file has these credentials. */
  async assertEncrypted(team: Team, expected = this.credentials): Promise<void> {
    this.assertHidden();
    const { password, restToken } = await team.decrypt(this.saved["encryptedCredentials"]);
    assert.deepEqual({ password, restToken }, expected);
  }
}

/** A preload that makes encryption fail in the process of an adapter, of everything or of credentials. */
const failingEncryption = (what: "everything" | "credentials"): string => `
import { createRequire } from "node:module";
const { Encrypter } = createRequire(${JSON.stringify(__filename)})("age-encryption");
const { encrypt } = Encrypter.prototype;
Encrypter.prototype.encrypt = async function (text) {
  if (text !== "" || ${what === "everything"}) throw new Error("cannot encrypt " + text);
  return encrypt.call(this, text);
};`;

describe("faults: credentials that are not saved", () => {
  /** Tests a row with credentials that are encrypted for a team. */
  const encrypted = (
    title: Parameters<typeof testRow>[0],
    test: (database: Database, team: Team) => Promise<void>,
    preload = "",
  ): void =>
    testRow(title, async (fixture) => {
      const team = await Team.create();
      const inputs = { saveCredentials: false, encryptFor: [team.recipient] };
      await test(await new Database(fixture, inputs).start({ preload }), team);
    });

  const thenEncrypted = "saved as secrets, and encrypted with the next version; 1 sent";
  encrypted(
    [102, "encryption fails after the reset", "create, update, next up", thenEncrypted],
    async (database, team) => {
      for (const version of [1, 3]) {
        const message = await database.up(version, "init error");
        assert.match(message, /could not be encrypted.* saved in the state, as secrets\..* set a new version/s);
        const { saved, credentials } = database;
        assert.deepEqual({ ...saved, ...credentials, outcome: "reset", rotationCount: version }, saved);
        const host = await database.fixture.nextRun();
        assert.equal(await database.up(version, "done", host), "same");
        assert.match(host.said, /take effect with the next rotation\. .*, set a new version/);
        database.assertSent(version);
        await database.up(version + 1, "done", host);
        await database.assertEncrypted(team);
        database.assertSent(version + 1);
      }
    },
    failingEncryption("credentials"),
  );

  encrypted(
    [104, "nothing can be encrypted", "create, update", "fails, state kept; 0 sent"],
    async (database, team) => {
      const notSent = /nothing can be encrypted for one of encryptFor.*REKEY_NOT_ENCRYPTED/s;
      assert.match(await database.up(1, "failed"), notSent);
      database.assertSent(0);
      await database.up(1, "done", await database.fixture.nextRun());
      assert.match(await database.up(2, "failed"), notSent);
      await database.assertEncrypted(team);
      database.assertSent(1);
    },
    failingEncryption("everything"),
  );
});

describe("faults: credentials that are not saved, at a platform that can be read", () => {
  const start = (fixture: Fixture): Promise<Database> =>
    new Database(fixture, { saveCredentials: false }).start({ settings: () => ({ databasePath }) });

  for (const reading of ["hides all", "hides the token"] as const) {
    const saved = "passes, saved as secrets with a warning, and removed by a refresh that shows them; 1 sent";
    testRow([106, `a read after the reset ${reading}`, "create, update, refresh", saved], async (fixture) => {
      const database = await start(fixture);
      /** The state has the credentials that reads hide. */
      const assertSaved = (): void => {
        const { password, restToken } = database.saved;
        const hidden = { ...database.credentials, ...(reading === "hides the token" && { password: undefined }) };
        assert.deepEqual({ password, restToken }, hidden);
        assert.match(database.fixture.host.said, /no read has shown it/);
      };
      for (const version of [1, 2]) {
        database.reading = "shows all";
        // From the reset on, the platform protects the credentials.
        database.meet(({ answer, body }) => {
          database.reading = reading;
          answer(200, {}, body);
        });
        await database.up(version);
        assertSaved();
        await database.refresh();
        assertSaved();
        database.reading = "shows all";
        await database.refresh();
        database.assertHidden();
        database.assertSent(version);
      }
    });
  }
});
