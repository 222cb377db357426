import assert from "node:assert/strict";
import { providerTexts } from "../support/host";
import { databaseText } from "../support/platformBodies";
import { type Properties, revealed } from "../support/wire";
import { testRow } from "./describeFaults";
import { type Fixture } from "./fixture";

const id = "db";
const text = { __provider: providerTexts.passwordRotation };
const nowhere = { saveCredentials: false };

/** What a read shows, as with the vendor's credential protection. A response to a reset shows everything. */
const readings = {
  "hides all": () => ({}),
  "masks them": () => ({ password: "*****", rest_token: "*****" }),
  "hides the password": ({ rest_token }: Properties) => ({ rest_token }),
  "hides the token": ({ password }: Properties) => ({ password }),
  "shows all": (all: Properties) => all,
};
type Reading = keyof typeof readings;

/** A resource with one database, at a platform that has an operation that reads it. */
class Stack {
  saved: Properties = {};
  reading: Reading = "shows all";
  generation = 0;

  constructor(readonly fixture: Fixture) {}

  async start(): Promise<this> {
    const bodyOf = (method: string) => {
      if (method === "POST") this.generation++;
      const { password, restToken: rest_token } = this.current;
      const all = { password, rest_token };
      return databaseText({ database_id: id, ...(method === "POST" ? all : readings[this.reading](all)) });
    };
    await this.fixture.start({ server: { bodyOf }, settings: () => ({ databasePath: "/v2/redis/database/{id}" }) });
    return this;
  }

  get current(): Properties {
    return { password: `password-${this.generation}`, restToken: `token-${this.generation}` };
  }

  #inputs(version: number, more: Properties): Properties {
    return { databaseId: id, version, ...more, ...text };
  }

  /** Creates or updates as a program with these inputs does. @returns the failure; empty if there is none */
  async up(version: number, more: Properties = {}): Promise<string> {
    const { host } = this.fixture;
    const inputs = this.#inputs(version, more);
    const isSaved = Object.keys(this.saved).length > 0;
    const { __provider } = inputs;
    const result = await (isSaved ? host.update(id, { ...this.saved, __provider }, inputs) : host.create(inputs));
    if (result.kind === "failed") return result.message;
    this.saved = revealed(result.outs);
    return "";
  }

  assertSent(resets: number): void {
    assert.equal(this.fixture.server.count("POST", id), resets);
  }

  get said(): string {
    const { stderr, engine } = this.fixture.host;
    return stderr + engine.received;
  }

  /** The state has the platform's credentials that reads hide. */
  assertSaved(): void {
    const { password, restToken } = this.saved;
    const { restToken: token } = this.current;
    const expected = { "hides the token": { restToken: token }, "hides the password": this.current };
    const hidden: Properties =
      this.reading in expected ? expected[this.reading as keyof typeof expected] : this.current;
    assert.deepEqual({ password, restToken }, { password: undefined, restToken: undefined, ...hidden });
    assert.match(this.said, /no read shows them/);
  }

  /** The state has no credential, because the platform shows each of them. */
  assertRemoved(): void {
    for (const value of Object.values(this.current)) assert.ok(!JSON.stringify(this.saved).includes(String(value)));
    assert.equal(this.saved["encryptedCredentials"], undefined);
  }
}

describe("faults: credentials that are not saved, at a platform that can be read", () => {
  const row = (
    nth: number,
    fault: string,
    phase: string,
    result: string,
    test: (stack: Stack) => Promise<void>,
  ): void => {
    testRow([nth, fault, phase, result], async (fixture) => test(await new Stack(fixture).start()));
  };

  for (const reading of ["masks them", "hides the password"] as const) {
    row(105, `the read before the reset ${reading}`, "update", "fails, state kept; 0 sent", async (stack) => {
      await stack.up(1, nowhere);
      stack.assertRemoved();
      stack.reading = reading;
      assert.match(await stack.up(2, nowhere), /the platform does not show it.*Set encryptFor.*REKEY_NOT_ENCRYPTED/s);
      stack.assertSent(1);
    });
  }

  for (const reading of ["hides all", "hides the token"] as const) {
    const saved = "passes, saved as secrets with a warning, and removed once it is shown; 1 sent";
    row(106, `a read after the reset ${reading}`, "create, update, next up", saved, async (stack) => {
      const { server } = stack.fixture;
      for (const version of [1, 2]) {
        stack.reading = "shows all";
        // From the reset on, the platform protects the credentials.
        server.behave("POST", id, ({ answer, body }) => {
          stack.reading = reading;
          answer(200, {}, body);
        });
        assert.equal(await stack.up(version, nowhere), "");
        stack.assertSaved();
        await stack.up(version, nowhere);
        stack.assertSaved();
        stack.reading = "shows all";
        await stack.up(version, nowhere);
        stack.assertRemoved();
        stack.assertSent(version);
      }
    });
  }
});
