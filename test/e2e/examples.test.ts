import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import schema from "../../schema.json";
import { blocksOf, pages, readPage, registryPages } from "../docs/page";
import { fails, succeeds, valuesOf } from "./engineStack";
import { loadExample } from "./loadExample";
import { closePlatforms, TestStack } from "./memory";
import { type KeyVendor, makeKey, startServer } from "./keyVendor";
import { Folder } from "../support/folder";
import { aclOf } from "../support/redis";
import { examples } from "../support/project";
import { databasePath } from "../support/resources";

const beginningOf = (code: string): string => code.split("\n").slice(0, 3).join("\n");
/** A program that resets at its first run: its first lines announce that. */
const isAnnounced = (code: string): boolean => /\bresets the passwords?\b/i.test(beginningOf(code));
/** A program that only adds a password at its first run. */
const isAddition = (code: string): boolean => /\badds a password\b/i.test(beginningOf(code));
const rotates = /\b(\w+Rotation(Fleet)?\(\s*(ctx, )?"|type: rekey:\w+Rotation)/;
const keepsSecrets =
  /initialRotation: false|initial_rotation"?(=|: )False|InitialRotation(:|  *=) *(pulumi\.Bool\()?false/;

it("Programs that users copy reset no secret at their first run, unless their first lines announce it", () => {
  const read = (name: string) => readFileSync(join(examples, name), "utf8");
  const files = readdirSync(examples, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js|py|go|cs|ya?ml)$/.test(name))
    .map((name) => ({ place: `examples/${name}`, code: read(name) }));
  const comments = readdirSync(join(examples, "../sdk")).flatMap((place) =>
    [...read(`../sdk/${place}`).matchAll(/@example\n *\* ```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => {
      return { place, code: code.replace(/^ *\* ?/gm, "") };
    }),
  );
  const described = [schema, ...Object.values(schema.resources)].flatMap(({ description }) =>
    blocksOf("schema.json", description),
  );
  const onPages = [...pages, ...registryPages.map(readPage)].flatMap(({ blocks }) => blocks);
  // A test of a program has a platform of its own.
  const all = [...files, ...comments, ...described, ...onPages].filter(
    ({ code }) => rotates.test(code) && !code.includes('"rekey-local"'),
  );
  assert.ok(all.length > 40, String(all.length));
  const unannounced = all.filter(({ code }) => !keepsSecrets.test(code) && !isAnnounced(code) && !isAddition(code));
  assert.deepEqual(
    unannounced.map(({ place }) => place),
    [],
  );
});

/** Providers of others, which are not installed: their classes register what they are given. */
const standIns: Readonly<Record<string, object>> = {
  "@pulumi/github": classes("github:index", "ActionsSecret"),
  "@pulumi/pulumiservice": classes("pulumiservice:index", "Environment"),
  "@pulumiverse/vercel": classes("vercel:index", "ProjectEnvironmentVariable", "Deployment"),
  "@pulumi/aws": { secretsmanager: classes("aws:secretsmanager", "Secret", "SecretVersion") },
  "@pulumi/kubernetes": {
    Provider: class extends pulumi.ProviderResource {
      constructor(name: string, args: pulumi.Inputs) {
        super("kubernetes", name, args);
      }
    },
    core: { v1: classes("kubernetes:core/v1", "Secret") },
    apps: { v1: classes("kubernetes:apps/v1", "Deployment") },
  },
};

function classes(module: string, ...names: string[]): object {
  const classOf = (type: string) =>
    class extends pulumi.CustomResource {
      constructor(name: string, { value, ...args }: pulumi.Inputs, options: pulumi.CustomResourceOptions) {
        // Those of GitHub and Vercel make it a secret.
        super(type, name, value === undefined ? args : { ...args, value: pulumi.secret(value) }, options);
      }
    };
  return Object.fromEntries(names.map((name) => [name, classOf(`${module}:${name}`)]));
}

const queueUserId = "7b1ad1c2-0e7e-4e0c-9d3f-0c2c1c1f5a11";

/** The configuration of all programs. */
const settings = {
  branch: "main",
  databaseId: "db-sessions",
  vectorIndexId: "idx-vectors",
  searchIndexId: "idx-search",
  queueUserId,
  projectId: "prj_shop",
  databases: "organization/databases/production",
  image: "shop:1",
  repository: "shop",
  flowControlKey: "orders",
  recipient: "age185xe49rm7897l8vdvvpe87gu57njufr2l4lrelvjduffesjjxpuq7cdjt5",
  rotation: '{ "databaseId": "db-sessions", "version": 1 }',
};

const orders = { flowControlKey: "orders", waitListSize: 7, parallelismMax: 3, parallelismCount: 3 };
const emails = { flowControlKey: "emails", waitListSize: 2, rateMax: 10, rateCount: 4, ratePeriod: 60 };
const idsIn = (file: string, pattern: RegExp) =>
  [...readFileSync(join(examples, file), "utf8").matchAll(pattern)].map(([, id = ""]) => id);
const ofFleet = idsIn("fleet-from-file/fleet.json", /"(db-[\w-]+)"/g);
const ofStacks = idsIn("fleet-over-stacks/databases.txt", /^(\S+)$/gm);

/** A platform on which every secret of the examples is in use. */
const account = {
  databases: [...new Set(["db-sessions", ...ofFleet, ...ofStacks])],
  vectorIndexes: ["idx-vectors"],
  searchIndexes: ["idx-search"],
  flowControlKeys: [orders, emails],
  databasePath,
  credentials: "always",
} as const;

/**
 * How many requests of the first `up` change something, how many outputs then have a value, and which resources of
 * other providers then have a credential of the database.
 */
const firstUps: Readonly<Record<string, readonly [changes: number, outputs: number, takers?: string]>> = {
  "after-a-leak": [0, 6],
  "any-key": [0, 1],
  "fleet-from-file": [3, 4],
  "fleet-over-stacks": [20, 2],
  "flow-control-dashboard": [0, 4],
  "flow-control-incident": [0, 0],
  "flow-control-limits": [0, 1],
  "hand-over/age-deploy-job": [0, 1],
  "hand-over/aws-secrets-manager": [0, 0, "sessions"],
  "hand-over/github-secret": [0, 0, "sessions"],
  "hand-over/kubernetes": [0, 1, "sessions"],
  "hand-over/pulumi-esc": [0, 1],
  "hand-over/read-platform": [0, 0],
  "hand-over/sops-kubernetes": [0, 1],
  "hand-over/vercel": [0, 0, "UPSTASH_REDIS_REST_TOKEN"],
  "key-by-hand": [0, 2],
  "languages/javascript-commonjs": [1, 2],
  "languages/javascript-esm": [1, 2],
  "languages/typescript-commonjs": [1, 2],
  "nightly-rotation": [0, 3],
  "no-outage/queue": [0, 0],
  "no-outage/redis": [0, 1],
  quickstart: [2, 9],
  "redis-consumer": [1, 1],
  "rotation-on-demand": [1, 3],
};

/** Where the examples with consumers write their secret, the vendor of any-key, and a key that a person has made. */
let folder: Folder;
let vendor: KeyVendor;
let stripeKey: string;
before(async () => {
  folder = new Folder();
  vendor = await startServer();
  ({ key: stripeKey } = await makeKey(vendor));
});
after(() => {
  folder.remove();
  vendor.close();
});

describe("The first `up` of an example, if every secret is in use", () => {
  afterEach(closePlatforms);
  const programs = readdirSync(examples, { recursive: true, encoding: "utf8" })
    .filter((name) => /(^|\/)index\.[jt]s$/.test(name))
    .map((name) => ({ example: dirname(name), code: readFileSync(join(examples, name), "utf8") }))
    // languages.slow.test.ts runs those with the plugin, and templates.slow.test.ts the one with its own Redis.
    // Mocha does not load TypeScript that is an ES module.
    .filter(({ code }) => code.includes('"pulumi-rekey"'))
    .filter(({ example }) => !["languages/typescript-esm", "own-redis"].includes(example));

  it("is tested for each of them", () =>
    assert.deepEqual(Object.keys(firstUps).sort(), programs.map(({ example }) => example).sort()));

  for (const { example, code } of programs) {
    const [changes, count, takers = ""] = firstUps[example] ?? [];
    it(`${example} ${isAnnounced(code) ? "resets, as its first lines announce" : "resets no secret"}`, async () => {
      const stack = await startExampleStack(example);
      await succeeds(stack.preview());
      assert.deepEqual(stack.posts, []);
      const { outputs } = await succeeds(stack.up());
      assert.deepEqual([stack.posts.length, Object.keys(outputs).length], [changes, count], stack.posts.join());
      assert.equal(stack.platform.resetCount > 0, isAnnounced(code));
      assert.equal(takersOf(stack).join(), takers);
      await succeeds(stack.up());
      assert.equal(stack.posts.length, changes, "the second one sends nothing");
      // A trigger that is removed asks for nothing.
      Object.assign(stack.config, { version: "2", incident: "INC-4711" });
      await succeeds(stack.up());
      const { length } = stack.posts;
      delete stack.config["version"];
      delete stack.config["incident"];
      await succeeds(stack.up());
      assert.equal(stack.posts.length, length);
    });
  }
});

/** The resources of other providers that were given a credential of the database. */
function takersOf({ state, platform }: TestStack): string[] {
  const resources = JSON.parse(state) as { readonly urn: string; readonly outputs: object }[];
  const { password, restToken } = platform.database("db-sessions");
  return resources
    .filter(
      ({ urn, outputs }) =>
        !/rekey:|pulumi:Stack/.test(urn) && [password, restToken].some((one) => JSON.stringify(outputs).includes(one)),
    )
    .map(({ urn }) => urn.split("::").at(-1) ?? "")
    .sort();
}

/** A stack of an example that is configured for that account. */
async function startExampleStack(example: string, stackName = "part-0-of-1") {
  const preset = { "rekey:databasePath": databasePath, "rekey:databaseListPath": "/v2/redis/databases" };
  const stack = await TestStack.start(() => loadExample(example, standIns), {
    ...account,
    ...(["hand-over/vercel", "no-outage/queue"].includes(example) && { queueUsers: [queueUserId] }),
    stack: stackName,
    config: { ...settings, ...preset, file: folder.path("secret"), server: vendor.url, stripeKey },
  });
  // As its README says: a token that Rekey uses itself is not retired.
  if (example === "no-outage/queue") {
    delete stack.config["rekey:queueToken"];
    stack.config["rekey:queueUserId"] = queueUserId;
  }
  if (example === "no-outage/redis") await aclOf(stack.platform.database("db-sessions"))("SETUSER", "app", "on");
  return stack;
}

describe("The example fleet-over-stacks", () => {
  afterEach(closePlatforms);

  const upOf = async (stack: TestStack) => valuesOf(await succeeds(stack.up()));

  it("resets each database once, in one of the stacks, and requires a stack's name to say which part it is", async () => {
    const first = await startExampleStack("fleet-over-stacks", "part-0-of-2");
    const { platform } = first;
    const second = await TestStack.start(() => loadExample("fleet-over-stacks"), { platform, stack: "part-1-of-2" });
    const counts = [Number((await upOf(first))["count"]), Number((await upOf(second))["count"])];
    assert.ok(counts.every((count) => count > 0) && counts.reduce((sum, count) => sum + count) === ofStacks.length);
    assert.ok(ofStacks.every((id) => platform.database(id).resets === 1));
    await fails((await startExampleStack("fleet-over-stacks", "part-2-of-2")).up(), /part-0-of-4/);
  });
});
