import assert from "node:assert/strict";
import { onEngine, type Rekey } from "../e2e/engineStack";
import { Clients, Deployment } from "../e2e/keyClients";
import { HttpServer } from "../support/httpServer";
import { hasRedis, type RedisServer, startRedisServer } from "../support/redis";
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

type Subject = Omit<OverlapSubject, "kills">;

async function killAndRepeat(
  subject: Subject,
  kill: OverlapKill,
  gate?: KillGate,
  onStart?: (stack: InterruptedStack) => void,
) {
  let trigger: Trigger = { version: 1 };
  const use = async (secret: string): Promise<void> => {
    if (secret !== "" && !(await subject.accepts(secret))) throw new Error("refused");
  };
  const clients = new Clients(use, "", 1);
  const deployer = await HttpServer.start({
    behaviour: async ({ answer }) => {
      await clients.handOver((JSON.parse(deployer.requests.at(-1)?.body ?? "") as { secret: string }).secret);
      answer(200);
    },
  });
  const program = (rekey: Rekey): void => {
    const { secret, access } = subject.declare(rekey, trigger);
    const handed = kill.retires ? new rekey.Retirement("handed", { access, credential: secret }).credential : secret;
    new Deployment("deployment", { url: deployer.url, secrets: { secret: handed } });
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
    await clients.stop();
    await deployer.close();
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
  // Its end retires what was valid before.
  if (kill.retires) assert.ok((await stack.up()).succeeded);
  const former = clients.secret;
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
  assert.ok(await accepts(clients.secret), "the clients are not refused");

  const next = await stack.up();
  assert.ok(next.succeeded, next.printed);
  const current = await secretIn();
  assert.notEqual(current, former);
  assert.deepEqual([clients.secret, await accepts(current)], [current, true], next.printed);
  assert.equal(await accepts(former), !kill.retires, next.printed);
  await assertUnsaved(given, next.printed);
  const { printed } = await stack.up();
  assert.match(printed, /unchanged/);
  assert.deepEqual(clients.failures, [], `of ${clients.attempts} attempts`);
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
