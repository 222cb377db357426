import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import schema from "../../schema.json";
import { blocksOf, pages, readPage, registryPages } from "../docs/page";
import { fails, succeeds, valuesOf } from "../support/engineStack";
import { loadExample } from "../support/examples";
import { closePlatforms, TestStack } from "../support/memory";
import { examples } from "../support/project";
import { databasePath } from "../support/resources";
import { errorsOf, type Registration, startMocks } from "../support/pulumiMocks";
import { assertFields } from "../support/results";

/** A trigger with a default: removing its setting would be a change, and so a reset. */
const defaulted =
  /\b(version|triggers|incident)\b.*(\?\?|\|\||\bor\b|\bdefault:)|get\w*\(\s*["'](version|incident)["']\s*,/i;

/** A program that resets at its first run: its first lines announce that. */
const isAnnounced = (code: string): boolean =>
  /\bresets the passwords?\b/i.test(code.split("\n").slice(0, 3).join("\n"));
const rotates = /\b(\w+Rotation(Fleet)?\(\s*(ctx, )?"|type: rekey:\w+Rotation)/;
const keepsSecrets =
  /initialRotation: false|initial_rotation"?(=|: )False|InitialRotation(:|  *=) *(pulumi\.Bool\()?false/;

describe("Programs that users copy", () => {
  const files = readdirSync(examples, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js|py|go|cs|ya?ml)$/.test(name))
    .map((name) => ({ place: `examples/${name}`, code: readFileSync(join(examples, name), "utf8") }));
  const programs = [...files, ...pages.flatMap(({ blocks }) => blocks)];

  it("give no trigger a default, which would become a reset if its setting is removed", () => {
    assert.ok(programs.length > 50, String(programs.length));
    const found = programs.flatMap(({ place, code }) =>
      code.split("\n").flatMap((line) => (defaulted.test(line) ? [`${place}: ${line.trim()}`] : [])),
    );
    assert.deepEqual(found, []);
  });

  it("reset no secret at their first run, unless their first lines announce it", () => {
    const comments = readdirSync(join(examples, "../sdk")).flatMap((name) => {
      const source = readFileSync(join(examples, "../sdk", name), "utf8");
      return [...source.matchAll(/@example\n *\* ```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => ({
        place: name,
        code: code.replace(/^ *\* ?/gm, ""),
      }));
    });
    const described = [schema, ...Object.values(schema.resources)].flatMap(({ description }) =>
      blocksOf("schema.json", description),
    );
    const generated = registryPages.flatMap((path) => readPage(path).blocks);
    // A test of a program has a platform of its own.
    const all = [...programs, ...comments, ...described, ...generated].filter(
      ({ code }) => rotates.test(code) && !code.includes('"rekey-local"'),
    );
    assert.ok(all.length > 60, String(all.length));
    const unannounced = all
      .filter(({ code }) => !keepsSecrets.test(code) && !isAnnounced(code))
      .map(({ place }) => place);
    assert.deepEqual(unannounced, []);
  });
});

/** What the platform sent, as the engine has it after the reset. */
const sent = { password: "new-password", endpoint: "cache.example.com", port: 6379, rotatedAt: "2026-11-21T02:17:00Z" };
const url = "rediss://default:new-password@cache.example.com:6379";

/** What the rotations of the other kinds have after it. */
const others: Readonly<Record<string, object>> = {
  VectorTokenRotation: indexOutputs("https://vectors.example.com", "new-vector-token"),
  SearchTokenRotation: indexOutputs("https://search.example.com", "new-search-token"),
  QueueTokenRotation: { outcome: "reset", token: "new-queue-token" },
  SigningKeyRotation: { outcome: "reset", currentKey: "new-current-key", nextKey: "new-next-key" },
};

function indexOutputs(restUrl: string, token: string) {
  return { outcome: "reset", record: { endpoint: restUrl }, restUrl, token };
}

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

/** Runs an example against a mocked engine, which returns these outputs of the rotation. */
async function startExample(
  example: string,
  outputs: object,
): Promise<{ registered: Registration[]; run: () => void }> {
  const registered = await startMocks({
    outputs(type) {
      if (type.endsWith(":PasswordRotation")) return outputs;
      const other = others[type.slice(type.lastIndexOf(":") + 1)];
      if (other !== undefined) return other;
      return type.endsWith(":StackReference") ? { outputs: { url }, secretOutputNames: ["url"] } : {};
    },
  });
  pulumi.runtime.setAllConfig(settings);
  return { registered, run: () => void loadExample(`hand-over/${example}`, standIns) };
}

const queueUserId = "7b1ad1c2-0e7e-4e0c-9d3f-0c2c1c1f5a11";

/** The configuration of all programs. */
const settings = {
  "project:branch": "main",
  "project:databaseId": "db-sessions",
  "project:vectorIndexId": "idx-vectors",
  "project:searchIndexId": "idx-search",
  "project:queueUserId": queueUserId,
  "project:projectId": "prj_shop",
  "project:databases": "organization/databases/production",
  "project:image": "shop:1",
  "project:repository": "shop",
  "project:flowControlKey": "orders",
  "project:recipient": "age185xe49rm7897l8vdvvpe87gu57njufr2l4lrelvjduffesjjxpuq7cdjt5",
  "project:rotation": '{ "databaseId": "db-sessions", "version": 1 }',
};

/** @returns the resource of this type that an example registers after a reset */
async function registeredBy(example: string, type: string, outputs: object = sent): Promise<Registration> {
  const { registered, run } = await startExample(example, { outcome: "reset", ...outputs, record: outputs });
  run();
  for (;;) {
    const found = registered.find((one) => one.type.endsWith(`:${type}`));
    if (found !== undefined) return found;
    await sleep(10);
  }
}

/** The value of an input that is marked as a secret. */
function secretOf(input: unknown): unknown {
  const { value, ...mark } = input as { value: unknown };
  assert.equal(Object.keys(mark).length, 1, "it is marked as a secret");
  return value;
}

/** What each example hands over: the resource and its secret input, and what must be done before. */
const handOvers: readonly (readonly [example: string, type: string, input: string, after?: RegExp])[] = [
  ["github-secret", "ActionsSecret", "value"],
  ["second-team", "ActionsSecret", "value"],
  ["aws-secrets-manager", "SecretVersion", "secretString", /:CredentialVerification::sessions/],
  ["kubernetes", "Secret", "stringData"],
];

describe("The examples that hand the password over", () => {
  for (const [example, type, input, done = /^/] of handOvers) {
    it(`${example} gives it as a secret, and nothing if it is not known`, async () => {
      const { inputs, request } = await registeredBy(example, type);
      const given = inputs[input] as { url?: unknown };
      assert.equal(secretOf(given.url ?? given), url);
      assert.match(String(request["dependenciesList"]), done);
      if (example === "second-team") return;
      const { registered, run } = await startExample(example, { outcome: "reset" });
      assert.match(
        (await errorsOf(run)).join("\n"),
        /The password was reset, but the platform neither sent nor showed/,
      );
      assert.ok(!registered.some((one) => one.type.endsWith(`:${type}`)));
    });
  }

  it("pulumi-esc says where to read the address, and has no password", async () => {
    const text = JSON.stringify((await registeredBy("pulumi-esc", "Environment")).inputs);
    assert.match(text, /fn::open::pulumi-stacks.*project\/stack/);
    assert.doesNotMatch(text, /new-password/);
  });

  it("kubernetes restarts pods with a new address, after the Secret has it", async () => {
    const provider = await registeredBy("kubernetes", "kubernetes");
    assert.equal(String(provider.inputs["enableSecretMutable"]), "true");
    const { inputs, request } = await registeredBy("kubernetes", "Deployment");
    const text = JSON.stringify(inputs);
    assert.ok(text.includes(createHash("sha256").update(url).digest("hex")));
    assert.doesNotMatch(text, /new-password/);
    assert.match(String(request["dependenciesList"]), /:Secret::sessions/);
  });

  it("vercel sets the usual variables after the proof, and deploys after them", async () => {
    const sentToo = { ...sent, restToken: "new-rest-token" };
    const { registered, run } = await startExample("vercel", { outcome: "reset", ...sentToo, record: sentToo });
    run();
    const variables = () => registered.filter(({ type }) => type.endsWith(":ProjectEnvironmentVariable"));
    const deployment = () => registered.find(({ type }) => type.endsWith(":Deployment"));
    while (deployment() === undefined) await sleep(10);
    assert.deepEqual(Object.fromEntries(variables().map(({ name, inputs }) => [name, secretOf(inputs["value"])])), {
      UPSTASH_REDIS_REST_URL: "https://cache.example.com",
      UPSTASH_REDIS_REST_TOKEN: "new-rest-token",
      UPSTASH_VECTOR_REST_URL: "https://vectors.example.com",
      UPSTASH_VECTOR_REST_TOKEN: "new-vector-token",
      UPSTASH_SEARCH_REST_URL: "https://search.example.com",
      UPSTASH_SEARCH_REST_TOKEN: "new-search-token",
      QSTASH_TOKEN: "new-queue-token",
      QSTASH_CURRENT_SIGNING_KEY: "new-current-key",
      QSTASH_NEXT_SIGNING_KEY: "new-next-key",
    });
    const before = variables().map(({ request }) => String(request["dependenciesList"]));
    for (const name of ["database", "vectors", "search", "queue"]) {
      assert.ok(
        before.every((list) => list.includes(`:CredentialVerification::${name}`)),
        name,
      );
    }
    const { request } = deployment() ?? assert.fail();
    assert.match(String(request["dependenciesList"]), /:ProjectEnvironmentVariable::QSTASH_NEXT_SIGNING_KEY/);
  });
});

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

/** How many requests of the first `up` change something, and how many outputs then have a value. */
const firstUps: Readonly<Record<string, readonly [changes: number, outputs: number]>> = {
  "after-a-leak": [0, 6],
  "fleet-from-file": [3, 4],
  "fleet-over-stacks": [20, 2],
  "flow-control-dashboard": [0, 4],
  "flow-control-incident": [0, 0],
  "flow-control-limits": [0, 1],
  "hand-over/age-deploy-job": [0, 1],
  "hand-over/aws-secrets-manager": [0, 0],
  "hand-over/github-secret": [0, 0],
  "hand-over/kubernetes": [0, 1],
  "hand-over/pulumi-esc": [0, 1],
  "hand-over/read-platform": [0, 0],
  "hand-over/sops-kubernetes": [0, 1],
  "hand-over/vercel": [0, 0],
  "languages/javascript-commonjs": [1, 2],
  "languages/javascript-esm": [1, 2],
  "languages/typescript-commonjs": [1, 2],
  "nightly-rotation": [0, 3],
  quickstart: [2, 9],
  "redis-consumer": [1, 1],
  "rotation-on-demand": [1, 3],
};

describe("The first `up` of an example, if every secret is in use", () => {
  afterEach(closePlatforms);
  const programs = readdirSync(examples, { recursive: true, encoding: "utf8" })
    .filter((name) => /(^|\/)index\.[jt]s$/.test(name))
    .map((name) => ({ example: dirname(name), code: readFileSync(join(examples, name), "utf8") }))
    // languages.slow.test.ts runs those with the plugin. Mocha does not load TypeScript that is an ES module.
    .filter(({ example, code }) => code.includes('"pulumi-rekey"') && example !== "languages/typescript-esm");

  it("is tested for each of them", () => {
    assert.deepEqual(Object.keys(firstUps).sort(), programs.map(({ example }) => example).sort());
  });

  for (const { example, code } of programs) {
    const [changes, count] = firstUps[example] ?? [];
    it(`${example} ${isAnnounced(code) ? "resets, as its first lines announce" : "resets no secret"}`, async () => {
      const stack = await startExampleStack(example);
      await succeeds(stack.preview());
      assert.deepEqual(stack.posts, []);
      const { outputs } = await succeeds(stack.up());
      assert.deepEqual([stack.posts.length, Object.keys(outputs).length], [changes, count], stack.posts.join());
      assert.equal(stack.platform.resetCount > 0, isAnnounced(code));
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

/** A stack of an example that is configured for that account. */
function startExampleStack(example: string, config: Record<string, string> = {}, stack = "part-0-of-1") {
  const own = Object.entries(settings).map(([name, value]) => [name.replace("project:", ""), value]);
  const preset = { "rekey:databasePath": databasePath, "rekey:databaseListPath": "/v2/redis/databases" };
  return TestStack.start(() => loadExample(example, standIns), {
    ...account,
    ...(example === "hand-over/vercel" && { queueUsers: [queueUserId] }),
    stack,
    config: { ...(Object.fromEntries(own) as Record<string, string>), ...preset, ...config },
  });
}

describe("The example", () => {
  afterEach(closePlatforms);
  const upOf = async (stack: TestStack) => valuesOf(await succeeds(stack.up()));

  it("nightly-rotation resets and verifies the password when its interval has passed", async () => {
    const stack = await startExampleStack("nightly-rotation");
    const days = (Date.parse(String((await upOf(stack))["nextRotationAt"])) - Date.now()) / 864e5;
    assert.ok(days > 29.9 && days <= 30, String(days));
    stack.config["rotateEvery"] = "PT0.001S";
    const { reason, verifiedAt, url } = await upOf(stack);
    assert.equal(reason, "schedule");
    assert.ok(Date.parse(String(verifiedAt)) > 0);
    assert.equal(new URL(String(url)).password, stack.platform.database("db-sessions").password);
  });

  it("flow-control-incident resets for an incident, and never without one", async () => {
    const stack = await startExampleStack("flow-control-incident", { flowControlKey: "emails" });
    await upOf(stack);
    assert.deepEqual(stack.posts, []);
    stack.config["incident"] = "INC-4711";
    assertFields(await upOf(stack), { waitingBefore: 2, dispatchedBefore: 4, dispatchedAfter: 0 });
    assert.equal(stack.posts.length, 1);
  });

  it("flow-control-dashboard shows what waits, what runs and what is stuck", async () => {
    const { keys, waiting, stuck, everything } = await upOf(await startExampleStack("flow-control-dashboard"));
    assert.deepEqual(keys, {
      orders: { waiting: 7, running: 3, parallelismMax: 3, rateCount: 0, reached: ["parallelism"] },
      emails: { waiting: 2, running: 0, rateMax: 10, rateCount: 4, reached: [] },
    });
    assert.deepEqual({ waiting, stuck }, { waiting: 9, stuck: ["orders"] });
    assert.equal((everything as Record<string, number>)["parallelismMax"], 100);
  });

  it("flow-control-limits pins what is configured, pauses, and drains slowly", async () => {
    const stack = await startExampleStack("flow-control-limits", { parallelism: "10", rate: "100" });
    const first = await upOf(stack);
    assert.deepEqual(first, { parallelism: 10, rate: 100, period: 60, paused: false });
    stack.config["paused"] = "true";
    assert.deepEqual(await upOf(stack), { ...first, paused: true });
    Object.assign(stack.config, { parallelism: "2", paused: "false" });
    assert.deepEqual(await upOf(stack), { ...first, parallelism: 2 });
    const sent = stack.posts.map((path) => path.split("/").at(-1));
    assert.deepEqual(sent, ["pin?parallelism=10&rate=100&period=60", "pause", "pin?parallelism=2", "resume"]);
  });

  it("fleet-over-stacks resets each database once, in one of the stacks, and requires a stack's name to say which part it is", async () => {
    const first = await startExampleStack("fleet-over-stacks", {}, "part-0-of-2");
    const { platform } = first;
    const second = await TestStack.start(() => loadExample("fleet-over-stacks"), { platform, stack: "part-1-of-2" });
    const counts = [Number((await upOf(first))["count"]), Number((await upOf(second))["count"])];
    assert.ok(counts.every((count) => count > 0) && counts.reduce((sum, count) => sum + count) === ofStacks.length);
    assert.ok(ofStacks.every((id) => platform.database(id).resets === 1));
    await fails((await startExampleStack("fleet-over-stacks", {}, "part-2-of-2")).up(), /part-0-of-4/);
  });
});

describe("The example of Pulumi Deployments", () => {
  it("runs `up` every night, and no program of a pull request", async () => {
    const registered = await startMocks();
    pulumi.runtime.setAllConfig(
      { "project:repository": "owner/rotations", "project:username": "you@example.com", "project:password": "api-key" },
      ["project:password"],
    );
    require(join(examples, "pipelines/pulumi-cloud"));
    const find = (type: string) => registered.find((one) => one.type.endsWith(`:${type}`))?.inputs;
    while (find("DeploymentSchedule") === undefined) await sleep(10);
    const { vcs, operationContext } = find("DeploymentSettings") as Record<string, Record<string, unknown>>;
    assertFields(vcs, { previewPullRequests: false, pullRequestTemplate: false });
    const variables = operationContext?.["environmentVariables"] as Record<string, unknown>;
    assert.equal(secretOf(variables["REKEY_PASSWORD"]), "api-key");
    assert.match(String(variables["REKEY_MAX_RESETS_PER_RUN"]), /^[1-9]\d*$/);
    assert.equal(find("DeploymentSchedule")?.["pulumiOperation"], "update");
  });
});
