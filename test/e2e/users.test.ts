import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { AclUserRotation, CredentialVerification } from "pulumi-rekey";
import { Team } from "../support/age";
import { addUser } from "../support/redis";
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

  it("hands out the address at which clients connect, and itself uses that of its admin", async () => {
    const team = await Team.create();
    let version = 1;
    let connection: Readonly<Record<string, unknown>> = { host: "redis.internal", port: 6380 };
    program = () => {
      const { password } = stack.platform.database("db");
      const admin = { host: "127.0.0.1", port: gate.port, tls: false, password: pulumi.secret(password) };
      const args = { userName: "app", admin, version, encryptFor: [team.recipient], overlap: "none" };
      const { access } = new AclUserRotation("app", { ...args, connection });
      new CredentialVerification("proof", { access });
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
