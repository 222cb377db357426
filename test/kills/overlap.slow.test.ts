import assert from "node:assert/strict";
import { createServer } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { onEngine, type Rekey } from "../e2e/engineStack";
import { hasRedis, type RedisServer, startRedisServer } from "../support/redis";
import { SocketServer } from "../support/socketServer";
import { itInPairs } from "../support/suite";
import { type KillGate } from "./gate";
import { InterruptedStack } from "./interruptedStack";
import {
  type OverlapKill,
  type OverlapSubject,
  queueKills,
  queueSubject,
  type Trigger,
  userKills,
  userSubject,
} from "./overlapSubjects";

/** The clients of a secret: they have what was deployed last, and use it again and again. */
class Clients extends SocketServer {
  readonly deployed: string[] = [];
  readonly refused: string[] = [];
  attempts = 0;
  #isOpen = true;

  private constructor(private readonly accepts: (secret: string) => Promise<boolean>) {
    super(
      createServer((incoming, outgoing) => {
        void textOf(incoming).then((secret) => {
          this.deployed.push(secret);
          outgoing.end();
        });
      }),
    );
  }

  static async start(accepts: (secret: string) => Promise<boolean>): Promise<Clients> {
    const clients = await new Clients(accepts).listen();
    void clients.#use();
    return clients;
  }

  get has(): string {
    return this.deployed.at(-1) ?? "";
  }

  override close(): Promise<void> {
    this.#isOpen = false;
    return super.close();
  }

  async #use(): Promise<void> {
    while (this.#isOpen) {
      const secret = this.has;
      const isAccepted = secret === "" || (await this.accepts(secret).catch(() => !this.#isOpen));
      this.attempts++;
      // A client that was given another one meanwhile connects again with that.
      if (!isAccepted && secret === this.has) this.refused.push(secret);
      await wait(20);
    }
  }
}

/** What gives a secret to the clients. */
class Deployment extends pulumi.CustomResource {
  constructor(name: string, port: number, inputs: pulumi.Inputs) {
    const deploy = `await fetch("http://127.0.0.1:${port}", { method: "POST", body: news.secret })`;
    const __provider = `exports.handler = () => ({
      create: async (news) => { ${deploy}; return { id: "1", outs: news }; },
      update: async (id, olds, news) => { ${deploy}; return { outs: news }; },
    })`;
    super("pulumi-nodejs:dynamic:Deployment", name, { ...inputs, __provider });
  }
}

type Subject = Omit<OverlapSubject, "kills">;

async function killAndRepeat(
  subject: Subject,
  kill: OverlapKill,
  gate?: KillGate,
  onStart?: (stack: InterruptedStack) => void,
) {
  let trigger: Trigger = { version: 1 };
  const clients = await Clients.start((secret) => subject.accepts(secret));
  const program = (rekey: Rekey): void => {
    const { secret, access } = subject.declare(rekey, trigger);
    const deployment = new Deployment("deployment", clients.port, { secret });
    const [args, options] = kill.retires ? [{ retireFormerAfter: [deployment.urn] }] : [{}, { dependsOn: deployment }];
    new rekey.CredentialVerification("proof", { access: access as string, ...args }, options);
  };
  const stack = await InterruptedStack.start([], program, {
    adapter: subject.adapter,
    gates: gate ? [gate] : [],
    config: { "rekey:queueToken": undefined, "rekey:queueUserId": "00000000-0000-4000-8000-000000000001" },
  });
  onStart?.(stack);
  try {
    await assertKill(stack, { ...subject, kill, clients }, (next) => (trigger = next));
  } finally {
    await clients.close();
    await stack.end();
  }
}

type Given = Subject & { readonly kill: OverlapKill; readonly clients: Clients };

async function assertKill(stack: InterruptedStack, given: Given, setTrigger: (next: Trigger) => void): Promise<void> {
  const { kill, clients, accepts } = given;
  const secretIn = async (): Promise<string> => {
    const { outputs = {} } = (await stack.see()).resources["secret"] ?? {};
    return String(outputs["token"] ?? outputs["password"]);
  };
  const first = await stack.up();
  assert.ok(first.succeeded, first.printed);
  const former = clients.has;
  assert.equal(former, await secretIn());

  setTrigger(kill.retires ? { version: 2 } : { version: 1, rotatedSince: new Date().toISOString() });
  const { when, matching, point, isFormerValid, isSaved } = kill;
  const done = await stack.up({ victim: "engine", matching, at: 1, point });
  assert.ok(done.struck, `killed ${when}: ${done.printed}`);
  const saved = await secretIn();
  // In a rotation, what is retired is the one before that which the clients have.
  const isValid = kill.retires ? isFormerValid : true;
  assert.deepEqual(
    { isFormerValid: await accepts(former), isSaved: saved !== former, isSavedValid: await accepts(saved) },
    { isFormerValid: isValid, isSaved, isSavedValid: true },
  );
  assert.ok(await accepts(clients.has), "the clients are not refused");

  const next = await stack.up();
  assert.ok(next.succeeded, next.printed);
  const current = await secretIn();
  assert.notEqual(current, former);
  assert.deepEqual([clients.has, await accepts(current)], [current, true], next.printed);
  assert.equal(await accepts(former), !kill.retires, next.printed);
  await assertUnsaved(given, next.printed);
  const { printed } = await stack.up();
  assert.match(printed, /unchanged/);
  assert.deepEqual(clients.refused, [], `of ${clients.attempts} attempts`);
}

/** A password that was added and is in no state is named, and never retired; the pair of tokens is the same one. */
async function assertUnsaved({ kill, title, count }: Given, printed: string): Promise<void> {
  if (title !== "a user") return;
  const warning = /1 password that Rekey does not know.*`ACL SETUSER app !<hash>` removes one/;
  if (kill.isUnsaved) assert.match(printed, warning);
  else assert.doesNotMatch(printed, /of which Rekey does not know/);
  assert.equal(await count(), (kill.retires ? 1 : 2) + Number(kill.isUnsaved ?? 0));
}

const titleOf = ({ when }: OverlapKill): string => when;

onEngine("kill -9 during the rotation of a queue token", () => {
  itInPairs(queueKills, titleOf, async (kill) => {
    let started: InterruptedStack | undefined;
    const subject = queueSubject(() => started?.stack.platform ?? assert.fail("it is not started"));
    await killAndRepeat(subject, kill, undefined, (stack) => (started = stack));
  });
});

if (!hasRedis) it.skip("kill -9 during the rotation of a user (skipped: there is no redis-server on PATH)");
else {
  onEngine("kill -9 during the rotation of a user", () => {
    itInPairs(userKills, titleOf, async (kill) => {
      const redis: RedisServer = await startRedisServer();
      const subject = await userSubject(redis);
      await killAndRepeat(subject, kill, subject.gate).finally(() => redis.close());
    });
  });
}
