import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";
import { startMocks, valueOf } from "../support/pulumiMocks";

const urn = (name: string, stack = "stack", parent = ""): string =>
  `urn:pulumi:${stack}::project::${parent}pulumi-nodejs:dynamic/rekey:PasswordRotation::${name}`;

async function make(databases: Readonly<Record<string, pulumi.Input<string>>>, options?: pulumi.CustomResourceOptions) {
  const made = Object.entries(databases).map(
    ([name, databaseId]) => new PasswordRotation(name, { databaseId }, options),
  );
  await Promise.all(made.map(({ urn }) => valueOf(urn)));
}

describe("sdk: owners of a database", () => {
  it("are sent as the URN of each resource", async () => {
    const registered = await startMocks();
    await make({ a: "db" });
    const parent = new pulumi.ComponentResource("my:own:Component", "parent");
    await make({ b: "db2" }, { parent });
    const owners = registered.filter(({ inputs }) => inputs["owner"]).map(({ inputs }) => inputs["owner"]);
    assert.deepEqual(owners, [urn("a"), urn("b", "stack", "my:own:Component$")]);
  });

  it("do not make the children of one component wait for each other", async () => {
    const registered = await startMocks();
    const parent = new pulumi.ComponentResource("my:own:Component", "parent");
    await make({ a: "db", b: "db2", c: "db3" }, { parent });
    assert.equal(registered.length, 4);
  });

  it("are sent to each of two resources for one database, even if its id is known late", async () => {
    const registered = await startMocks();
    const late = new Promise<string>((resolve) => setTimeout(() => resolve("other"), 20));
    await make({ a: "db", b: pulumi.output(Promise.resolve("db")), c: "single", d: late });
    const others = new Map(registered.map(({ name, inputs }) => [name, inputs["otherOwners"]]));
    assert.deepEqual(others, new Map(Object.entries({ a: [urn("b")], b: [urn("a")], c: undefined, d: undefined })));
  });

  it("are not sent to another run or another stack in this process", async () => {
    const database = { a: "same" };
    await startMocks({ stack: "one" });
    await make(database);
    const other = await startMocks({ stack: "two" });
    await make(database);
    const renamed = await startMocks({ stack: "one" });
    await make({ b: "same" });
    for (const registered of [other, renamed]) assert.equal(registered[0]?.inputs["otherOwners"], undefined);
  });
});
