import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type * as pulumi from "@pulumi/pulumi";
import { ApiKey } from "../../examples/any-key/apiKey";
import { HttpServer } from "../support/httpServer";
import { type Process } from "../support/processes";
import { assertFields } from "../support/results";
import { endAll, EngineStack, fails, onEngineByAdapter, type Rekey, succeeds } from "./engineStack";
import { Clients, Deployment } from "./keyClients";
import { type KeyVendor, startServer } from "./keyVendor";

/** What fails in an `up` that has made a new key. */
type Failing = "proof" | "deployment" | "none";

onEngineByAdapter("The key of a vendor", (adapter) => {
  let vendor: KeyVendor;
  let deployer: HttpServer;
  let stack: EngineStack;
  let version: number;
  let failing: Failing;
  let lateMs: number;
  let isReplaced: boolean;
  let fixedValue: string | undefined;
  let options: pulumi.CustomResourceOptions;
  /** Those of each deployment, the last one first. */
  let clients: Clients[];
  /** Called when a deployment has the key. */
  let onDeploy: () => void;

  const program = ({ RotationTrigger, CredentialVerification }: Rekey) => {
    const turn = new RotationTrigger("turn", { version });
    const key = new ApiKey("key", { server: vendor.url }, { ...options, replacementTrigger: fixedValue ?? turn.value });
    const http = { url: `${vendor.url}/validate` };
    const withinSeconds = failing === "proof" ? 0.5 : 20;
    const proof = new CredentialVerification("proof", { credential: key.key, http, withinSeconds });
    new Deployment("deployment", { url: deployer.url, secrets: { key: proof.credential }, isReplaced });
  };

  const use = async (key: string) => {
    const headers = { authorization: `Bearer ${key}`, connection: "close" };
    const { status } = await fetch(`${vendor.url}/orders`, { headers });
    if (status !== 200) throw new Error(String(status));
  };
  const start = async ({ limit = Infinity, replaced = false } = {}) => {
    vendor = await startServer({ limit });
    const ofKeys = vendor.statusOf;
    const knownAt = new Map<string, number>();
    vendor.statusOf = (path, key) => {
      if (failing === "proof" && path === "/validate") return 401;
      if (!knownAt.has(key)) knownAt.set(key, performance.now() + lateMs);
      return performance.now() >= (knownAt.get(key) ?? 0) ? ofKeys(path, key) : 401;
    };
    deployer = await HttpServer.start({
      behaviour: async ({ method, answer }) => {
        const { key } = JSON.parse(deployer.requests.at(-1)?.body ?? "") as { key: string };
        if (method === "DELETE") {
          // Until now, the old deployment serves.
          await wait(3_000);
          await clients.at(1)?.stop();
          return answer(200);
        }
        if (failing === "deployment") return answer(503, {}, "the deployer is away");
        const [current] = clients;
        if (current && !isReplaced) await current.handOver(key);
        else clients.unshift(new Clients(use, key));
        onDeploy();
        answer(200);
      },
    });
    [version, failing, lateMs, isReplaced, fixedValue, options] = [1, "none", 0, replaced, undefined, {}];
    [clients, onDeploy] = [[], () => undefined];
    stack = await EngineStack.start(program, { adapter });
    await succeeds(stack.up());
    assert.equal(vendor.keys.size, 1);
  };
  const end = async () => {
    for (const one of clients) await one.stop();
    vendor.close();
    await deployer.close();
    await stack.end();
  };
  const keys = () => [...vendor.keys.values()];
  const proof = () => stack.outputsOf("proof");

  /** The next `up` makes no further key, deletes the former one, and the one after it proves that. */
  const recovers = async () => {
    const [, next] = keys();
    await succeeds(stack.up());
    assert.deepEqual(keys(), [next]);
    await succeeds(stack.up());
    assertFields(await proof(), { verified: true, credential: next, formerRefused: true });
    assert.deepEqual(keys(), [next]);
  };

  const twice = [{}, {}];
  const failures: readonly (readonly [Failing, ups: readonly { continueOnError?: true }[]])[] = [
    ["proof", twice],
    ["deployment", twice],
    // A second one deletes the former key: of what failed, the engine spares what it depends on, which is the new key.
    ["proof", [{ continueOnError: true }]],
  ];
  for (const replaced of [false, true]) {
    const what = replaced ? "replaced, and serves until it is deleted" : "updated";
    it(`refuses none of 1,000 attempts of 20 clients whose deployment is ${what}, whatever fails`, async () => {
      await start({ replaced });
      const former = keys();
      [version, lateMs] = [2, 3_000];
      assertFields((await succeeds(stack.up())).changes, { replace: replaced ? 3 : 2 });
      lateMs = 0;
      assert.equal(keys().length, 1);
      assert.notDeepEqual(keys(), former);
      assertFields(await proof(), { verified: true, formerRefused: undefined });
      for (const [step, ups] of failures) {
        const [valid] = keys();
        version++;
        failing = step;
        for (const ofUp of ups) {
          const { printed } = await fails(
            stack.up(ofUp),
            step === "proof" ? /REKEY_VERIFICATION_FAILED/ : /the deployer is away/,
          );
          assert.deepEqual([keys()[0], keys().length, clients[0]?.secret], [valid, 2, valid], `${step}: ${printed}`);
        }
        failing = "none";
        await recovers();
        assert.equal(clients[0]?.secret, keys()[0]);
      }
      // Without a Diff, it knows of no former one.
      const urns = (await stack.saved()).resources.map(({ urn }) => urn);
      await succeeds(stack.up({ replace: urns.filter((urn) => urn.endsWith("::proof")) }));
      assertFields(await proof(), { verified: true, formerRefused: undefined });
      while (clients.reduce((sum, { attempts }) => sum + attempts, 0) < 1_000) await wait(100);
      await end();
      assert.equal(clients.flatMap(({ failures }) => failures).length, 0);
    });
  }

  it("of which the vendor allows two can be repaired after two turns", async () => {
    await start({ limit: 2 });
    version = 2;
    failing = "deployment";
    await fails(stack.up(), /the deployer is away/);
    const { resources } = await stack.saved();
    const [created] = resources.flatMap(({ urn, replacementTrigger: value }) => (urn.endsWith("::key") ? value : []));
    version = 3;
    failing = "none";
    await fails(stack.up(), /has not created a key: 409/);
    fixedValue = String(created);
    await recovers();
    fixedValue = undefined;
    await succeeds(stack.up());
    assert.equal(keys().length, 1);
    await end();
  });

  it("is deleted after a kill between its proof and the end, and all are after a destroy", async () => {
    await start();
    version = 2;
    let left: readonly Process[] | undefined;
    onDeploy = () => (left = stack.kill("engine"));
    await fails(stack.up());
    await endAll(left ?? assert.fail("nothing was killed"));
    onDeploy = () => undefined;
    await stack.unlock();
    assert.equal(keys().length, 2);
    await recovers();
    version = 3;
    failing = "deployment";
    await fails(stack.up(), /the deployer is away/);
    await succeeds(stack.destroy());
    assert.deepEqual(keys(), []);
    await end();
  });
});
