import assert from "node:assert/strict";
import { Receiver } from "@upstash/qstash";
import { type Platform } from "../../local/index";
import { queue } from "../local/platform/client";
import { Destination } from "../local/platform/queue/destination";
import { fails, resourceNamed, type Stack, succeeds, valuesOf } from "../support/engine";
import { fixture, onEveryEngine } from "../support/onEngines";

const program = (version: number, more = "") => `
const { SigningKeyRotation } = require("pulumi-rekey");
const keys = new SigningKeyRotation("keys", { version: ${version}, ${more} });
for (const name of ["currentKey", "nextKey", "currentKeySince", "nextKeySince", "outcome"]) exports[name] = keys[name];`;

/** A receiver of messages as users have it: it verifies each with the keys that it was deployed with. */
class SignedReceiver {
  readonly destination = new Destination();
  accepted = 0;
  rejected = 0;
  #keys: ConstructorParameters<typeof Receiver>[0] | undefined;
  #sending: Promise<void> | undefined;
  #ends = false;

  /** Deploys the outputs of a program. */
  async deploy(stack: Stack): Promise<void> {
    const { currentKey, nextKey } = valuesOf(await succeeds(stack.up()));
    this.#keys = { currentSigningKey: String(currentKey), nextSigningKey: String(nextKey) };
  }

  /** Publishes messages all the time, each after the one before was received. */
  startMessages(platform: Platform): void {
    this.#sending = (async () => {
      while (!this.#ends) await this.#message(platform);
    })();
  }

  /** Waits until messages have arrived with what is in use now. */
  async messages(platform: Platform, count = 5): Promise<void> {
    for (let sent = 0; sent < count; sent++) await this.#message(platform);
  }

  async end(): Promise<void> {
    this.#ends = true;
    await this.#sending;
    await this.destination.close();
  }

  async #message(platform: Platform): Promise<void> {
    const { destination } = this;
    const before = destination.deliveries.length;
    await queue(platform, "POST", `/publish/${destination.url}/hook`, { body: `message ${before}` });
    await destination.arrived(before + 1);
    const { headers, body } = destination.deliveries[before]!;
    const receiver = new Receiver({ ...this.#keys, devMode: false });
    const isAccepted = await receiver
      .verify({ signature: String(headers["upstash-signature"]), body, url: `${destination.url}/hook` })
      .catch(() => false);
    if (isAccepted) this.accepted++;
    else this.rejected++;
  }
}

onEveryEngine("Signing keys", (engine) => {
  const receivers: SignedReceiver[] = [];
  const start = async (text: string) => {
    const { platform, project, stack } = await fixture(engine, text, { credentials: "always" });
    const receiver = new SignedReceiver();
    await receiver.destination.start();
    receivers.push(receiver);
    return { platform, project, stack, receiver };
  };
  const endAll = async () => {
    for (const receiver of receivers.splice(0)) await receiver.end();
  };
  afterEach(endAll);

  it("roll without an outage; a second roll at once is refused, and would be one", async () => {
    const { platform, project, stack, receiver } = await start(program(1, "initialRotation: false"));
    await receiver.deploy(stack);
    receiver.startMessages(platform);
    project.rewrite(program(2));
    await receiver.deploy(stack);
    assert.equal(platform.signingKeys.rolls, 1);
    await receiver.end();
    assert.ok(receiver.accepted > 0);
    assert.equal(receiver.rejected, 0, `of ${receiver.accepted} messages`);

    project.rewrite(program(3));
    assert.match((await stack.preview()).printed, /Does not reset .*: it was rolled, or may have been, at/);
    await fails(stack.up(), /REKEY_ROLLED_RECENTLY/);
    assert.equal(platform.signingKeys.rolls, 1);

    // Forced, without the new keys at the receiver: the first roll after the deployment is still accepted.
    const late = new SignedReceiver();
    await late.destination.start();
    receivers.push(late);
    project.rewrite(program(2));
    await late.deploy(stack);
    for (const version of [3, 4]) {
      project.rewrite(program(version, `minInterval: "0s"`));
      await succeeds(stack.up());
    }
    await late.messages(platform);
    assert.deepEqual([late.accepted, late.rejected], [0, 5]);
  });

  it("are both replaced by two rolls, with the receiver updated between them", async () => {
    const { platform, project, stack, receiver } = await start(program(1, "initialRotation: false"));
    const leaked = platform.signingKeys;
    await receiver.deploy(stack);
    receiver.startMessages(platform);
    for (const version of [2, 3]) {
      project.rewrite(program(version, `minInterval: "0s"`));
      await receiver.deploy(stack);
    }
    await receiver.end();
    assert.equal(platform.signingKeys.rolls, 2);
    assert.equal(receiver.rejected, 0, `of ${receiver.accepted} messages`);
    const { current, next } = platform.signingKeys;
    assert.ok(![current, next].some((key) => [leaked.current, leaked.next].includes(key)));
    const { currentKeySince, nextKeySince } = valuesOf(await succeeds(stack.up()));
    assert.ok(typeof currentKeySince === "string" && typeof nextKeySince === "string");
    assert.ok(currentKeySince < nextKeySince);
  });

  it("are settled if the response to a roll is lost: one roll in all, and both keys stay secret", async () => {
    const { platform, stack } = await start(program(1));
    platform.failNext({ path: /keys\/rotate/, dropConnection: "after-apply" });
    const { outputs } = await succeeds(stack.up());
    const { current, next, rolls } = platform.signingKeys;
    assert.equal(rolls, 1);
    assert.deepEqual(outputs["currentKey"], { value: current, secret: true });
    assert.deepEqual(outputs["nextKey"], { value: next, secret: true });
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    assert.equal(resourceNamed(await stack.exportState(), "keys")?.id, "signing-keys");
    await succeeds(stack.destroy());
    assert.equal(platform.signingKeys.rolls, 1);
  });
});
