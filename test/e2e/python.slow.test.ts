import assert from "node:assert/strict";
import { delimiter, dirname } from "node:path";
import { Folder } from "../support/folder";
import { findOnPath } from "../support/processes";
import { acceptsPassword, hasRedis, startRedisServer } from "../support/redis";
import { Deployments, triesAt } from "./deployments";
import { pulumiPath, whyNoEngine } from "./engine";
import { HomeWithPlugin } from "./pluginArchive";

// Inline, because only the official CLI has the host that runs the program of a folder and generates the SDK.

const anyKey = `
import os
import pulumi
from pulumi import automation

def program():
    turn = pulumi.CustomResource("rekey:index:RotationTrigger", "turn", {"version": os.environ["VERSION"], "value": None})
    options = pulumi.ResourceOptions(replacement_trigger=turn.value if os.environ["TRIGGER"] == "on" else None)
    pulumi.Stash("key", input="of some provider", opts=options)
    pulumi.export("value", turn.value)
    person = {"byHand": True, "rotateEvery": "PT1S", "version": os.environ["VERSION"], "waits": None}
    pulumi.export("waits", pulumi.CustomResource("rekey:index:RotationTrigger", "person", person).waits)

print(automation.create_or_select_stack("dev", "any-key", program).up().stdout)
`;

const retirement = `
import asyncio, json, os, urllib.request, uuid
import pulumi
from pulumi import automation, dynamic

def ask(verb, id, inputs):
    body = {key: inputs[key] for key in ["name", "secret", "drainMs"]}
    url = inputs["url"] + "/" + verb + "/" + id
    urllib.request.urlopen(urllib.request.Request(url, json.dumps({**body, "id": id}).encode(), method="POST"))

class DeploymentProvider(dynamic.ResourceProvider):
    def diff(self, id, olds, news):
        changes = olds["secret"] != news["secret"]
        return dynamic.DiffResult(changes=changes, replaces=["secret"] if changes and news["isReplaced"] else [])
    def create(self, inputs):
        id = str(uuid.uuid4())
        ask("create", id, inputs)
        return dynamic.CreateResult(id, inputs)
    def update(self, id, olds, news):
        ask("update", id, news)
        return dynamic.UpdateResult(news)
    def delete(self, id, inputs):
        ask("delete", id, inputs)

class Deployment(dynamic.Resource):
    def __init__(self, name, secret, opts=None):
        args = {"url": os.environ["DEPLOYMENTS"], "name": name, "secret": secret, "drainMs": 500}
        super().__init__(DeploymentProvider(), name, {**args, "isReplaced": "replaced" in name}, opts)

class App(pulumi.ComponentResource):
    def __init__(self, name, secret):
        super().__init__("test:index:App", name)
        options = pulumi.ResourceOptions(parent=self)
        async def deploy(_):
            await asyncio.sleep(0.3)
            Deployment(name, secret, options)
        if "late" in name:
            secret.apply(deploy)
        else:
            Deployment(name, secret, options)

def program():
    port, version = int(os.environ["PORT"]), os.environ["VERSION"]
    admin = {"host": "127.0.0.1", "port": port, "tls": False, "password": "admin"}
    for name in os.environ["NAMES"].split():
        app = pulumi.CustomResource("rekey:index:AclUserRotation", name, {
            "admin": admin, "userName": name, "version": version, "access": None, "connectionUrl": None})
        handed = pulumi.CustomResource("rekey:index:Retirement", name, {
            "access": app.access, "credential": app.connectionUrl})
        (Deployment if name.startswith("plain") else App)(name, handed.credential)

print(automation.create_or_select_stack("dev", "retirement", program).up().stdout)
`;

const why = whyNoEngine ?? (findOnPath("python3") ? undefined : "there is no python3 on PATH");
const titles = {
  anyKey: "adopts a key by its trigger, replaces it for a version, and waits for a person",
  retirement: "rotates without an outage, with components that make their children later",
};

describe("A program in Python with the plugin", function () {
  this.timeout(900_000);
  if (why !== undefined) {
    for (const title of Object.values(titles)) it.skip(`${title} (skipped: ${why})`);
    return;
  }
  let home: HomeWithPlugin;
  let folder: Folder;
  before(async () => {
    home = await HomeWithPlugin.make(pulumiPath);
    folder = new Folder();
  });
  after(() => {
    folder.remove();
    home.remove();
  });
  /** Runs a program with Pulumi's package. The first run installs it. */
  const run = (test: Mocha.Context, program: string, environment: Record<string, string>) => {
    folder.write("program.py", program);
    // Pulumi's host of dynamic providers. The official CLI has such a script, too.
    const host = `#!/bin/sh\nexec '${folder.path("venv/bin/python")}' -u -m pulumi.dynamic "$@"\n`;
    folder.write("bin/pulumi-resource-pulumi-python", host, 0o755);
    const install = "[ -d venv ] || { python3 -m venv venv; venv/bin/pip install pulumi; }";
    return home.run(folder.directory, `${install}; venv/bin/python program.py`, test, {
      PATH: [folder.path("bin"), dirname(pulumiPath), process.env["PATH"]].join(delimiter),
      PULUMI_IGNORE_AMBIENT_PLUGINS: "false",
      ...environment,
    });
  };

  it(titles.anyKey, async function () {
    const up = (VERSION: string, TRIGGER = "on") => run(this, anyKey, { VERSION, TRIGGER });
    assert.match(await up("1", "off"), /value: "\d{8}-0-/);
    const waits = /is due to be turned.*\+ waits: "a person is to replace the secret/s;
    assert.match(await up("1"), waits);
    const turned = /-0-\w+" => "\d{8}-1-\w+"\s+- waits: .*\s+Resources:\s+~ 2 updated\s+\+-1 replaced/;
    assert.match(await up("2"), turned);
    assert.match(await up("2"), waits);
    assert.match(await up("2"), /is due to be turned.* 4 unchanged/s);
  });

  if (!hasRedis) it.skip(`${titles.retirement} (skipped: there is no redis-server on PATH)`);
  else {
    it(titles.retirement, async function () {
      const names = ["plain", "plain-replaced", "app", "app-late", "app-late-replaced"];
      const redis = await startRedisServer();
      for (const name of names) await redis.acl("SETUSER", name, "on", ">first", "~*", "+@all");
      const { tries, close } = triesAt(redis);
      const deployments = await Deployments.start((_, url) => tries(url), Number(process.env["REKEY_CLIENTS"] ?? 1));
      const { url: DEPLOYMENTS } = deployments;
      const environment = { DEPLOYMENTS, PORT: String(redis.port), NAMES: names.join(" ") };
      try {
        for (const [nth, VERSION] of ["1", "1", "2", "3"].entries()) {
          const printed = await run(this, retirement, { ...environment, VERSION });
          assert.deepEqual(await deployments.refused(), [], printed);
          for (const name of names) {
            const passwords = ["first", ...deployments.given(name).map((url) => new URL(url).password)];
            const at = { endpoint: "127.0.0.1", port: redis.port };
            const accepted = await Promise.all(passwords.map((one) => acceptsPassword(at, name, one)));
            const expected = passwords.map((_, index) => index === passwords.length - 1 || nth === 0);
            assert.deepEqual(accepted, expected, `${name}: ${printed}`);
            assert.equal(passwords.length, 1 + Number(VERSION));
          }
        }
        console.log(`      ${deployments.attempts} attempts`);
      } finally {
        await deployments.close();
        close();
        await redis.close();
      }
    });
  }
});
