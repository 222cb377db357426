import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import {
  AclUserRotation,
  type AclUserRotationArgs,
  CredentialVerification,
  FlowControlLimits,
  FlowControlReset,
  PasswordRotation,
  PasswordRotationFleet,
  Retirement,
  SigningKeyRotation,
  VectorTokenRotation,
} from "pulumi-rekey";
import { errorsOf, evaluate, type MockOptions, type Registration, startMocks, valueOf } from "./pulumiMocks";

/** Another copy of this package, as a library of the program may have it. */
function otherCopy(): typeof import("pulumi-rekey") {
  const own = { ...require.cache };
  const folder = require.resolve("pulumi-rekey").replace(/sdk.*/, "");
  for (const file of Object.keys(own)) if (file.startsWith(folder)) delete require.cache[file];
  const copy = require("pulumi-rekey") as typeof import("pulumi-rekey");
  Object.assign(require.cache, own);
  return copy;
}

const rotate = (name: string, databaseId: pulumi.Input<string>) => new PasswordRotation(name, { databaseId });
const uuid = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
const late = <T>(value: T, milliseconds = 0) =>
  new Promise<T>((resolve) => setTimeout(() => resolve(value), milliseconds));

const adminAt = (host: string) => ({ host, port: 6379, password: pulumi.secret("p") });
/** The output `access` of a PasswordRotation. */
const accessOf = (endpoint: string) =>
  JSON.stringify({ id: "db", of: "PasswordRotation", count: 1, salt: "s", record: { endpoint, port: 6379 } });

const accessOfToken = JSON.stringify({ id: "u", of: "QueueTokenRotation", count: 1, salt: "s" });

/** Administrators of one server, with rekey:platform. */
const oneServer: Readonly<Record<string, readonly AclUserRotationArgs["admin"][]>> = {
  "in upper case": [adminAt("redis.example.com"), adminAt("REDIS.example.com")],
  "with a trailing dot": [adminAt("redis.example.com"), adminAt("redis.example.com.")],
  "localhost and 127.0.0.1": [adminAt("localhost"), adminAt("127.0.0.1")],
  "localhost and ::1": [adminAt("localhost."), adminAt("0:0:0:0:0:0:0:1")],
  "a slug that the preset completes": [accessOf("cache"), adminAt("cache.upstash.io")],
};

/** Why the provider of a registration refuses it, if it does. */
async function refusalOf({ inputs }: Registration): Promise<string | undefined> {
  const provider = evaluate(String(inputs["__provider"])).handler() as {
    check(olds: object, inputs: object): Promise<{ failures: { reason: string }[] }>;
  };
  if (Object.hasOwn(provider, "create")) return undefined;
  const { failures } = await provider.check({}, { a: 1 });
  return failures.map(({ reason }) => reason).join("\n");
}

/** The reasons for which the resources of a program are refused, by name. */
async function refusals(program: () => unknown, options?: MockOptions) {
  const registered = await startMocks(options);
  assert.deepEqual(await errorsOf(program), []);
  const ours = registered.filter(({ inputs }) => inputs["__provider"] !== undefined);
  return Object.fromEntries(await Promise.all(ours.map(async (one) => [one.name, await refusalOf(one)] as const)));
}

describe("sdk: a resource that ends its program", () => {
  const mistakes: Readonly<Record<string, (first: PasswordRotation) => unknown>> = {
    "an option that is not supported": () => new PasswordRotation("b", { databaseId: "other" }, { import: "other" }),
    "a rotation as access": (first) => new CredentialVerification("b", { access: first as never }),
    "a rotation as access of a Retirement": (first) => new Retirement("b", { access: first as never }),
  };
  for (const [what, make] of Object.entries(mistakes)) {
    it(`refuses those that were constructed before it, because Pulumi registers them: ${what}`, async () => {
      const registered = await startMocks();
      const [error = ""] = await errorsOf(() => make(rotate("a", "db")));
      if (what.includes("as access")) {
        assert.match(error, /"b": access is a resource, .* `rotation\.access` .*No request/);
      }
      const [first = assert.fail()] = registered.filter(({ name }) => name === "a");
      assert.equal(await refusalOf(first), error.replace("RekeyError: ", ""));
    });
  }
});

describe("sdk: two resources of a program for one secret or key", () => {
  afterEach(() => pulumi.runtime.setAllConfig({}));

  const pairs: Readonly<Record<string, { readonly make: () => unknown; readonly message: RegExp }>> = {
    "a database": {
      make: () => [rotate("a", "db"), rotate("b", "db")],
      message: /PasswordRotation "b": database "db" already belongs to PasswordRotation "a": each reset .* Remove one/,
    },
    "a database whose id is an Output": {
      make: () => [rotate("a", "db"), rotate("b", pulumi.secret("db"))],
      message: /\[REKEY_DUPLICATE_SECRET\]$/,
    },
    "a database of another copy of the package": {
      make: () => [rotate("a", "db"), new (otherCopy().PasswordRotation)("b", { databaseId: "db" })],
      message: /PasswordRotation "b": database "db" already belongs to PasswordRotation "a"/,
    },
    "the signing keys": {
      make: () => [new SigningKeyRotation("a"), new SigningKeyRotation("b")],
      message: /the pair of signing keys already belongs to SigningKeyRotation "a".*\[REKEY_DUPLICATE_SECRET\]$/,
    },
    "a database of a fleet": {
      make: () => [
        rotate("a", "db"),
        new PasswordRotationFleet("b", { databases: { x: "one", y: { databaseId: "db" } } }),
      ],
      message: /PasswordRotationFleet "b": database "db" already belongs to PasswordRotation "a"/,
    },
    "a database, by a UUID in another case": {
      make: () => [rotate("a", uuid), new PasswordRotationFleet("b", { databases: [uuid.toUpperCase()] })],
      message: /PasswordRotationFleet "b": database "96ad.*" already belongs to PasswordRotation "a"/,
    },
    ...Object.fromEntries(
      Object.entries(oneServer).map(([names, admins]) => [
        `a user of a server with two names: ${names}`,
        {
          make: () => {
            pulumi.runtime.setAllConfig({ "rekey:platform": "upstash" });
            admins.map((admin, nth) => new AclUserRotation(nth === 0 ? "a" : "b", { userName: "app", admin }));
          },
          message: /user "app" of .* already belongs to AclUserRotation "a": each would retire the password/,
        },
      ]),
    ),
    "a retirement": {
      make: () => ["a", "b"].map((name) => new Retirement(name, { access: pulumi.secret(accessOfToken) })),
      message: /the retirement of the token of queue user "u" already belongs to Retirement "a": each .* the other one/,
    },
    "a flow-control key": {
      make: () => ["a", "b"].map((name) => new FlowControlLimits(name, { flowControlKey: "orders", rate: 1 })),
      message: /flow-control key "orders" already belongs to FlowControlLimits "a".*\[REKEY_DUPLICATE_KEY\]$/,
    },
  };
  for (const [what, { make, message }] of Object.entries(pairs)) {
    it(`refuse each resource of the program: ${what}`, async () => {
      const found = await refusals(() => {
        new FlowControlReset("counters", { flowControlKey: "orders" });
        make();
        rotate("last", "other");
      });
      assert.deepEqual(Object.keys(found).sort(), ["a", "b", "counters", "last"]);
      for (const text of Object.values(found)) assert.match(text ?? "", message);
    });
  }

  it("refuse the second one if its id is known late, also those that come later, and not another run", async () => {
    const found = await refusals(async () => {
      const one = new PasswordRotation("a", { databaseId: "db" });
      await valueOf(one.urn);
      rotate("b", Promise.resolve("db"));
      await late(undefined, 1);
      rotate("c", "other");
    });
    assert.equal(found["a"], undefined);
    for (const name of ["b", "c"]) {
      assert.match(found[name] ?? "", /^PasswordRotation "b": database "db" already belongs to PasswordRotation "a"/);
    }
    assert.deepEqual(await refusals(() => rotate("d", "db"), { stack: "other" }), { d: undefined });
  });

  it("are not two kinds with one id, ids that are unknown in a preview, or ids that are missing", async () => {
    const missing = { databaseId: undefined as unknown as string };
    const found = await refusals(
      () => {
        rotate("a", "same");
        new VectorTokenRotation("b", { indexId: "same" });
        const { resetAt } = new FlowControlReset("c", { flowControlKey: "same" });
        for (const name of ["d", "e"]) rotate(name, resetAt as pulumi.Output<string>);
        for (const name of ["f", "g"]) new PasswordRotation(name, missing);
      },
      { preview: true },
    );
    assert.deepEqual(Object.keys(found).sort(), ["a", "b", "c", "d", "e", "f", "g"]);
    assert.deepEqual(new Set(Object.values(found)), new Set([undefined]));
  });
});
