import assert from "node:assert/strict";
import { Receiver } from "@upstash/qstash";
import { SigningKeyRotation, type SigningKeyRotationArgs } from "pulumi-rekey";
import { type Platform } from "../../local/platform/index";
import { queue } from "../local/platform/client";
import { Destination } from "../local/platform/queue/destination";
import { fails, type Result, succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, TestStack } from "../support/memory";
import { until } from "../support/results";

/** The program of a stack, whose arguments a test may change. */
async function start(first: SigningKeyRotationArgs) {
  let args = first;
  const stack = await TestStack.start(
    () => {
      const { currentKey, nextKey, currentKeySince } = new SigningKeyRotation("keys", args);
      return { currentKey, nextKey, currentKeySince };
    },
    { credentials: "always" },
  );
  return { stack, platform: stack.platform, change: (next: SigningKeyRotationArgs) => void (args = next) };
}

/** How many messages a receiver verified. */
interface Verified {
  readonly accepted: number;
  readonly rejected: number;
}

/** A receiver of messages as users have it: it verifies each with the keys that it was deployed with. */
class SignedReceiver {
  readonly destination = new Destination();
  accepted = 0;
  rejected = 0;
  #keys: ConstructorParameters<typeof Receiver>[0] | undefined;
  #sending: Promise<void> | undefined;
  #ends = false;

  /** Deploys the outputs of a program. */
  deploy(result: Result): void {
    const { currentKey, nextKey } = valuesOf(result);
    this.#keys = { currentSigningKey: String(currentKey), nextSigningKey: String(nextKey) };
  }

  /** Publishes messages all the time, each after the one before was received. */
  startMessages(platform: Platform): void {
    this.#sending = (async () => {
      while (!this.#ends) await this.#message(platform);
    })();
  }

  /** Waits until messages were verified that were published after the call. */
  async messagesFromNow(count = 5): Promise<Verified> {
    const verifies = (total: number) => until(() => this.accepted + this.rejected >= total);
    // One may be on its way.
    await verifies(this.accepted + this.rejected + 1);
    const { accepted, rejected } = this;
    await verifies(accepted + rejected + count);
    return { accepted: this.accepted - accepted, rejected: this.rejected - rejected };
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

describe("A program with a SigningKeyRotation", () => {
  const receivers: SignedReceiver[] = [];
  /** A receiver with the keys of an adoption, and messages to it. */
  const receiverOf = async (platform: Platform, adoption: Result) => {
    const receiver = new SignedReceiver();
    receivers.push(receiver);
    await receiver.destination.start();
    receiver.deploy(adoption);
    receiver.startMessages(platform);
    return receiver;
  };
  const adopting = { version: 1, initialRotation: false };
  const assertAllAccepted = ({ accepted, rejected }: Verified) => {
    assert.ok(accepted > 0);
    assert.equal(rejected, 0);
  };
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.end();
    await closePlatforms();
  });

  it("roll without an outage; a second roll at once is refused, and would be one", async () => {
    const { stack, platform, change } = await start(adopting);
    const adoption = await succeeds(stack.up());
    const updated = await receiverOf(platform, adoption);
    const late = await receiverOf(platform, adoption);
    change({ version: 2 });
    const rolled = await succeeds(stack.up());
    assert.equal(platform.signingKeys.rolls, 1);
    // Both have the keys of the adoption.
    assertAllAccepted(await updated.messagesFromNow());
    assertAllAccepted(await late.messagesFromNow());
    updated.deploy(rolled);
    assertAllAccepted(await updated.messagesFromNow());

    change({ version: 3 });
    assert.match(
      (await stack.preview()).printed,
      /Pair of signing keys: will not be rolled: it was rolled, or may have been, at/,
    );
    await fails(stack.up(), /REKEY_ROLLED_RECENTLY/);
    assert.equal(platform.signingKeys.rolls, 1);
    assertAllAccepted(late);

    change({ version: 3, minInterval: "0s" });
    await succeeds(stack.up());
    assert.equal(platform.signingKeys.rolls, 2);
    assert.equal((await late.messagesFromNow()).accepted, 0, "the receiver does not know the keys of the first roll");
    assertAllAccepted(await updated.messagesFromNow());
    assertAllAccepted(updated);
  });

  it("are both replaced by two rolls, with the receiver updated between them", async () => {
    const { stack, platform, change } = await start(adopting);
    const leaked = platform.signingKeys;
    const receiver = await receiverOf(platform, await succeeds(stack.up()));
    for (const version of [2, 3]) {
      change({ version, minInterval: "0s" });
      const rolled = await succeeds(stack.up());
      assertAllAccepted(await receiver.messagesFromNow());
      receiver.deploy(rolled);
      assertAllAccepted(await receiver.messagesFromNow());
    }
    assert.equal(platform.signingKeys.rolls, 2);
    assertAllAccepted(receiver);
    const { current, next } = platform.signingKeys;
    assert.ok(![current, next].some((key) => [leaked.current, leaked.next].includes(key)));
    assert.equal(typeof valuesOf(await succeeds(stack.up()))["currentKeySince"], "string");
  });
});
