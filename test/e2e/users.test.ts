import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { AclUserRotation, CredentialVerification, Retirement } from "pulumi-rekey";
import { Team } from "../support/age";
import { acceptsPassword, addUser } from "../support/redis";
import { RedisGate } from "../support/redisGate";
import { assertFields } from "../support/results";
import { succeeds } from "./engineStack";
import { closePlatforms, TestStack } from "./memory";

describe("A program with the password of a Redis user", () => {
  let gate: RedisGate;
  let program: () => unknown;
  let stack: TestStack;
  beforeEach(async () => {
    stack = await TestStack.start(() => program(), { databases: ["db"] });
    const database = stack.platform.database("db");
    gate = await RedisGate.start(Number(database.record["port"]));
    await addUser(database, "app");
  });
  afterEach(() => gate.close());
  afterEach(closePlatforms);

  /** The administrator, at the database itself or behind the gate. */
  const adminAt = (at: "database" | "gate") => {
    const { record, password } = stack.platform.database("db");
    const port = at === "gate" ? gate.port : Number(record["port"]);
    return { host: "127.0.0.1", port, tls: false, password: pulumi.secret(password) };
  };
  const isAccepted = (name: string): Promise<boolean> =>
    acceptsPassword(stack.platform.database("db").record, "app", stack.saved(name)?.["password"]);

  for (const order of ["one after the other", "at once", "in a later run"]) {
    it(`never retires what another resource of the run has added, by another port of the server: ${order}`, async () => {
      let isFirst = order === "in a later run";
      program = () => {
        const one = new AclUserRotation("one", { userName: "app", admin: adminAt("database") });
        if (isFirst) return;
        const dependsOn = order === "at once" ? [] : [one];
        const other = new AclUserRotation("other", { userName: "app", admin: adminAt("gate") }, { dependsOn });
        for (const [name, { access }] of Object.entries({ one, other })) {
          new Retirement(`${name}-handed`, { access });
        }
      };
      if (isFirst) await succeeds(stack.up());
      isFirst = false;
      const { printed } = await stack.up();
      const says =
        /user "app" of localhost:\d+ is also user "app" of localhost:\d+.*This request has added or removed none.*Remove one/s;
      // At once, both may have read before either has added one.
      if (order !== "at once") assert.match(printed, says);
      for (const name of ["one", "other"]) if (stack.saved(name)) assert.ok(await isAccepted(name), name);
      assert.ok(stack.saved("one"));
    });
  }

  it("hands out the address at which clients connect, and itself uses that of its admin", async () => {
    const team = await Team.create();
    let version = 1;
    let connection: Readonly<Record<string, unknown>> = { host: "redis.internal", port: 6380 };
    program = () => {
      const args = { userName: "app", admin: adminAt("gate"), version, encryptFor: [team.recipient], overlap: "none" };
      const { access } = new AclUserRotation("app", { ...args, connection });
      new CredentialVerification("proof", { access, withinSeconds: 1 });
    };
    await succeeds(stack.up());
    const { password, connectionUrl, restUrl, encryptedCredentials } = stack.saved("app") ?? {};
    const urls = {
      connectionUrl: `rediss://app:${String(password)}@redis.internal:6380`,
      restUrl: "https://redis.internal",
    };
    assert.deepEqual({ connectionUrl, restUrl }, urls);
    assertFields(await team.decrypt(encryptedCredentials), urls);
    assert.equal(gate.sent(/^AUTH app /).length, 3, "one by the rotation");
    assertFields(stack.saved("proof"), { verified: true, formerRefused: undefined });
    await succeeds(stack.up());
    // What it does not set is that of the admin, and changing it makes no request.
    connection = { port: 7000 };
    const { length } = gate.commands;
    await succeeds(stack.up());
    assertFields(stack.saved("app"), { connectionUrl: `redis://app:${String(password)}@127.0.0.1:7000` });
    assert.equal(gate.commands.length, length);
    await succeeds(stack.refresh());
    assertFields(stack.saved("app"), { connectionUrl: `redis://app:${String(password)}@127.0.0.1:7000` });
    version = 2;
    connection = { host: "moved.internal" };
    await succeeds(stack.up());
    const file = await team.decrypt(stack.saved("app")?.["encryptedCredentials"]);
    assert.equal(file["restUrl"], "https://moved.internal");
  });
});
