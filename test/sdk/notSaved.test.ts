import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import * as rekey from "pulumi-rekey";
import { PasswordRotation, VectorTokenRotation } from "pulumi-rekey";
import { kinds } from "../../provider/domain/secretKind";
import { secretOutputs } from "../support/secretOutputs";
import { errorsOf, startMocks, valueOf } from "./pulumiMocks";

const saving = { saveCredentials: false, encryptFor: ["age1…"] };
const state = {
  outcome: "reset",
  rotationCount: 1,
  encryptedCredentials: "-----BEGIN AGE ENCRYPTED FILE-----",
  // Of a fleet.
  states: {},
  credentials: {},
  connectionUrls: {},
};
const values = {
  password: "p",
  restToken: "t",
  readOnlyRestToken: "r",
  otherFields: "{}",
  connectionUrl: "u",
  restUrl: "h",
};
const databaseOutputs = Object.keys(values);
type Saving = typeof saving | { saveCredentials: boolean };

const rotate = (args: Saving) => new PasswordRotation("a", { databaseId: "db", ...args });
type Saved = rekey.Rotation | rekey.PasswordRotationFleet;
/** Every rotation, with its outputs that need a credential. */
const rotations = [...kinds.map(({ name }) => name), "PasswordRotationFleet" as const].map((type) => {
  const Class = rekey[type] as unknown as new (name: string, args: object) => Saved;
  return {
    make: (args: Saving) => new Class("a", { databases: ["db"], ...args }),
    outputs: secretOutputs[type].filter((name) => name !== "access" && name !== "memory"),
  };
});

const outputOf = (resource: pulumi.Resource, name: string) =>
  (resource as unknown as Readonly<Record<string, pulumi.Output<unknown>>>)[name] as pulumi.Output<unknown>;

describe("sdk: credentials that are not saved", () => {
  for (const preview of [true, false]) {
    it(`stop a program that uses one, and no other, ${preview ? "in a preview" : "in an up"}`, async () => {
      for (const { make, outputs } of rotations) {
        await startMocks({ outputs: () => ({ ...state, restUrl: "https://index.example.com" }), preview });
        let made: Saved | undefined;
        assert.deepEqual(await errorsOf(() => (made = make(saving))), []);
        const rotation = made ?? assert.fail();
        assert.equal(await valueOf(outputOf(rotation, "encryptedCredentials")), state.encryptedCredentials);
        const exported = outputs.filter((name) => Object.keys(rotation).includes(name));
        assert.deepEqual(exported, [], "an export of the whole resource uses none");
        for (const name of outputs.filter((one) => preview || one !== "restUrl")) {
          const [error = "", ...others] = await errorsOf(() => outputOf(rotation, name));
          assert.deepEqual(others, []);
          const type = rotation.constructor.name;
          assert.ok(error.includes(`${type} "a": ${name} is not saved, because of saveCredentials: false`), error);
          assert.match(error, /Use encryptedCredentials, read it from the platform .*\[REKEY_NOT_SAVED\]/);
        }
      }
    });
  }

  it("are in no text that a program makes of one, which its type would allow", async () => {
    for (const preview of [true, false]) {
      await startMocks({ outputs: () => state, preview });
      const rotation = rotate(saving);
      const [error = ""] = await errorsOf(() => pulumi.interpolate`redis://:${rotation.password}@host`);
      assert.match(error, /password is not saved, because of saveCredentials: false/);
    }
  });

  it("do not keep the address of an index from a program", async () => {
    await startMocks({ outputs: () => ({ ...state, restUrl: "https://index.example.com" }), preview: true });
    const { restUrl } = new VectorTokenRotation("a", { indexId: "i", ...saving });
    assert.equal(await valueOf(restUrl), "https://index.example.com");
  });

  it("are those that are saved after all, because they could not be encrypted", async () => {
    await startMocks({ outputs: () => ({ ...state, ...values }) });
    const rotation = rotate(saving);
    for (const name of databaseOutputs) assert.ok((await valueOf(outputOf(rotation, name))) !== undefined, name);
  });

  it("may be undefined if they are to be saved, but are not known", async () => {
    await startMocks({ outputs: () => state });
    const rotation = rotate({ saveCredentials: true });
    for (const name of databaseOutputs) assert.equal(await valueOf(outputOf(rotation, name)), undefined, name);
  });

  it("cannot be used if only the engine knows that they are not saved", async () => {
    await startMocks({ outputs: () => state });
    const rotation = rotate({ saveCredentials: pulumi.output(false) as unknown as boolean });
    assert.match((await errorsOf(() => rotation.password)).join(), /is not saved/);
  });
});
