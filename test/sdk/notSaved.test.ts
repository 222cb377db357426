import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import {
  PasswordRotation,
  PasswordRotationFleet,
  QueueTokenRotation,
  SearchTokenRotation,
  SigningKeyRotation,
  VectorTokenRotation,
} from "pulumi-rekey";
import { errorsOf, startMocks, valueOf } from "../support/pulumiMocks";

const saving = { saveCredentials: false, encryptFor: ["age1…"] };
const state = { outcome: "reset", rotationCount: 1, record: { endpoint: "db.example.com", port: 1 } };
const file = { encryptedCredentials: "-----BEGIN AGE ENCRYPTED FILE-----" };
const values = {
  password: "p",
  restToken: "t",
  readOnlyRestToken: "r",
  token: "t",
  readOnlyToken: "r",
  currentKey: "c",
  nextKey: "n",
  otherFields: "{}",
};

interface Case {
  readonly what: string;
  readonly make: (args: typeof saving | { saveCredentials: boolean }) => pulumi.Resource;
  /** The outputs with credentials. */
  readonly outputs: readonly string[];
}

const cases: readonly Case[] = [
  {
    what: 'PasswordRotation "a"',
    make: (args) => new PasswordRotation("a", { databaseId: "db", ...args }),
    outputs: ["password", "restToken", "readOnlyRestToken", "otherFields", "connectionUrl", "restUrl"],
  },
  {
    what: 'VectorTokenRotation "a"',
    make: (args) => new VectorTokenRotation("a", { indexId: "i", ...args }),
    outputs: ["token", "readOnlyToken", "otherFields"],
  },
  {
    what: 'SearchTokenRotation "a"',
    make: (args) => new SearchTokenRotation("a", { indexId: "i", ...args }),
    outputs: ["token", "readOnlyToken", "otherFields"],
  },
  {
    what: 'QueueTokenRotation "a"',
    make: (args) => new QueueTokenRotation("a", { queueUserId: "u", ...args }),
    outputs: ["token", "readOnlyToken", "otherFields"],
  },
  {
    what: 'SigningKeyRotation "a"',
    make: (args) => new SigningKeyRotation("a", { ...args }),
    outputs: ["currentKey", "nextKey", "otherFields"],
  },
  {
    what: 'PasswordRotationFleet "a"',
    make: (args) => new PasswordRotationFleet("a", { databases: { one: "db" }, includeRecords: true, ...args }),
    outputs: ["credentials", "connectionUrls"],
  },
];

const outputOf = (resource: pulumi.Resource, name: string) =>
  (resource as unknown as Readonly<Record<string, pulumi.Output<unknown>>>)[name] as pulumi.Output<unknown>;

for (const { what, make, outputs } of cases) {
  describe(`sdk: credentials of ${what.split(" ")[0]} that are not saved`, () => {
    /** The saved outputs, with credentials or only marks of them. */
    const savedWith = (credentials: object) => (type: string) => {
      if (!type.endsWith("Shard")) return { ...state, ...credentials, ...file };
      const rotations = [{ databaseId: "db", ...state, ...file }];
      return { rotations, secrets: JSON.stringify([{ databaseId: "db", ...credentials, account: "1:a" }]) };
    };

    it("stop no program that does not use one", async () => {
      await startMocks({ outputs: savedWith({ currentMarks: "1:…" }) });
      let resource: pulumi.Resource | undefined;
      assert.deepEqual(await errorsOf(() => (resource = make(saving))), []);
      const shown = resource && (await valueOf(outputOf(resource, "encryptedCredentials")));
      assert.deepEqual(shown, what.includes("Fleet") ? { one: file.encryptedCredentials } : file.encryptedCredentials);
      const exported = Object.keys(resource ?? {});
      const used = outputs.filter((name) => exported.includes(name));
      assert.deepEqual(used, [], "an export of the whole resource uses none");
    });

    for (const preview of [true, false]) {
      it(`stop a program that uses one, with the reason${preview ? ", also in a preview" : ""}`, async () => {
        await startMocks({ outputs: savedWith({ currentMarks: "1:…" }), preview });
        const resource = make(saving);
        for (const name of outputs) {
          const source =
            { connectionUrl: "password", restUrl: "restToken", connectionUrls: "credentials" }[name] ?? name;
          const errors = await errorsOf(() => outputOf(resource, name));
          assert.ok(errors.length > 0, name);
          for (const error of errors) {
            const reason = `${what}: ${source} is not saved, because of saveCredentials: false`;
            assert.ok(error.includes(reason), error);
            assert.match(error, /Use encryptedCredentials, read the platform .*\[REKEY_NOT_SAVED\]/);
          }
        }
      });
    }

    it("are those that are saved after all, because they could not be encrypted", async () => {
      await startMocks({ outputs: savedWith(values) });
      const resource = make(saving);
      for (const name of outputs) assert.ok((await valueOf(outputOf(resource, name))) !== undefined, name);
    });

    it("may be undefined if they are to be saved, but are not known", async () => {
      await startMocks({ outputs: savedWith({}) });
      const resource = make({ saveCredentials: true });
      for (const name of outputs) {
        const value = await valueOf(outputOf(resource, name));
        assert.deepEqual(value, { credentials: { one: {} }, connectionUrls: {} }[name], name);
      }
    });

    it("cannot be used if only the engine knows that they are not saved", async () => {
      await startMocks({ outputs: savedWith({}) });
      const resource = make({ saveCredentials: pulumi.output(false) as unknown as boolean, encryptFor: [] });
      const errors = await errorsOf(() => outputOf(resource, outputs[0] ?? ""));
      assert.match(errors.join(), /is not saved/);
    });
  });
}
