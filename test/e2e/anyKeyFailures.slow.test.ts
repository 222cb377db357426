import assert from "node:assert/strict";
import type * as pulumi from "@pulumi/pulumi";
import { ApiKey } from "../../examples/any-key/apiKey";
import { HttpServer } from "../support/httpServer";
import { type Process } from "../support/processes";
import { assertFields } from "../support/results";
import { endAll, EngineStack, fails, onEngineByAdapter, type Rekey, succeeds } from "./engineStack";
import { Clients, Deployment } from "./keyClients";
import { type KeyVendor, startServer } from "./keyVendor";

/** What fails in an `up` that has made a new key. */
type Failing = "deployment" | "proof" | "afterProof" | "none";

onEngineByAdapter("The key of a vendor", (adapter) => {
  let vendor: KeyVendor;
  let deployer: HttpServer;
  let stack: EngineStack;
  let clients: Clients | undefined;
  let version: number;
  let failing: Failing;
  let fixedValue: string | undefined;
  let options: pulumi.CustomResourceOptions;
  /** Called when a deployment has the key. */
  let onDeploy: () => void;

  const program = ({ RotationTrigger, CredentialVerification }: Rekey) => {
    const turn = new RotationTrigger("turn", { version });
    const key = new ApiKey("key", { server: vendor.url }, { ...options, replacementTrigger: fixedValue ?? turn.value });
    const deploy = (name: string, on?: pulumi.Resource) =>
      new Deployment(name, { url: `${deployer.url}/${name}`, secrets: { key: key.key } }, on ? { dependsOn: on } : {});
    const http = { url: `${vendor.url}/validate` };
    const args = { credential: key.key, http, withinSeconds: 0.5 };
    deploy("afterProof", new CredentialVerification("proof", args, { dependsOn: deploy("deployment") }));
  };

  const start = async (limit = Infinity) => {
    vendor = await startServer({ limit });
    const ofKeys = vendor.statusOf;
    vendor.statusOf = (path, key) => (failing === "proof" && path === "/validate" ? 503 : ofKeys(path, key));
    deployer = await HttpServer.start({
      behaviour: async ({ path, answer }) => {
        if (path === `/${failing}`) return answer(503, {}, "the deployer is away");
        const { key } = JSON.parse(deployer.requests.at(-1)?.body ?? "") as { key: string };
        if (path === "/deployment") await clients?.handOver(key);
        if (path === "/deployment") onDeploy();
        answer(200);
      },
    });
    [version, failing, fixedValue, options, clients, onDeploy] = [1, "none", undefined, {}, undefined, () => undefined];
    stack = await EngineStack.start(program, { adapter });
    await succeeds(stack.up());
    assert.equal(vendor.keys.size, 1);
  };
  const end = async () => {
    await clients?.stop();
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
    assertFields(await proof(), { verified: true, formerRefused: true });
    assert.deepEqual(keys(), [next]);
  };

  it("is turned twice, and refuses none of 1,000 attempts of 20 clients", async () => {
    await start();
    const [first = ""] = keys();
    const headers = (key: string) => ({ authorization: `Bearer ${key}`, connection: "close" });
    clients = new Clients(async (key) => {
      const { status } = await fetch(`${vendor.url}/orders`, { headers: headers(key) });
      if (status !== 200) throw new Error(String(status));
    }, first);
    for (version = 2; version <= 3 || clients.attempts < 1_000; version++) {
      const former = keys();
      await succeeds(stack.up());
      assert.equal(keys().length, 1);
      assert.notDeepEqual(keys(), former);
      assertFields(await proof(), { verified: true, formerRefused: undefined });
    }
    version--;
    await succeeds(stack.up());
    assertFields(await proof(), { verified: true, formerRefused: true });
    assert.deepEqual(clients.failures, []);
    assert.ok(clients.attempts >= 1_000);
    await end();
  });

  const twice = [{}, {}];
  const failures: readonly (readonly [Failing, ups: readonly { continueOnError?: true }[]])[] = [
    ["deployment", twice],
    ["proof", twice],
    ["afterProof", twice],
    // A second one deletes the former key: of what failed, the engine spares what it depends on, which is the new key.
    ["proof", [{ continueOnError: true }]],
  ];
  it("stays until an `up` succeeds, whatever has failed after the new one", async () => {
    await start();
    for (const [what, ups] of failures) {
      const former = keys();
      version++;
      failing = what;
      for (const ofUp of ups) {
        const { printed } = await fails(
          stack.up(ofUp),
          what === "proof" ? /REKEY_VERIFICATION_FAILED/ : /the deployer is away/,
        );
        assert.deepEqual([keys()[0], keys().length], [former[0], 2], `${what}: ${printed}`);
      }
      failing = "none";
      await recovers();
    }
    await end();
  });

  it("of which the vendor allows two can be repaired after two turns", async () => {
    await start(2);
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

  it("is deleted after a kill between the new one and its proof, and all are after a destroy", async () => {
    await start();
    version = 2;
    let left: readonly Process[] | undefined;
    onDeploy = () => (left = stack.kill("engine"));
    await fails(stack.up());
    await endAll(left ?? assert.fail("nothing was killed"));
    onDeploy = () => undefined;
    await stack.run("cancel", "--yes");
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
