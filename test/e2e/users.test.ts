import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { AclUserRotation, CredentialVerification } from "pulumi-rekey";
import { databaseReply } from "../support/redis";
import { RedisGate } from "../support/redisGate";
import { fails } from "./engineStack";
import { closePlatforms, TestStack } from "./memory";

describe("A program with the password of a Redis user", () => {
  let gate: RedisGate;
  let program: () => unknown;
  let stack: TestStack;
  beforeEach(async () => {
    stack = await TestStack.start(() => program(), { databases: ["db"] });
    const { record, password } = stack.platform.database("db");
    gate = await RedisGate.start(Number(record["port"]));
    const acl = (...words: string[]) => databaseReply(record, ["AUTH", password], ["ACL", ...words]);
    const [, , token = ""] = (await acl("GENTOKEN", "app")).split("\r\n");
    await acl("SETUSER", "app", "on", "+@all", `>${token}`);
  });
  afterEach(() => gate.close());
  afterEach(closePlatforms);

  /** The administrator, at the database itself or behind the gate. */
  const adminAt = (at: "database" | "gate") => {
    const { record, password } = stack.platform.database("db");
    const port = at === "gate" ? gate.port : Number(record["port"]);
    return { host: "127.0.0.1", port, tls: false, password: pulumi.secret(password) };
  };
  const isAccepted = async (name: string): Promise<boolean> => {
    const password = String(stack.saved(name)?.["password"]);
    return (await databaseReply(stack.platform.database("db").record, ["AUTH", "app", password])) === "+OK\r\n";
  };

  for (const order of ["one after the other", "at once"]) {
    it(`never retires what another resource of the run has added, by another port of the server: ${order}`, async () => {
      program = () => {
        const one = new AclUserRotation("one", { userName: "app", admin: adminAt("database") });
        const dependsOn = order === "at once" ? [] : [one];
        const other = new AclUserRotation("other", { userName: "app", admin: adminAt("gate") }, { dependsOn });
        for (const [name, { access }] of Object.entries({ one, other })) {
          new CredentialVerification(`${name}-proof`, { access, withinSeconds: 1, retireFormer: true });
        }
      };
      await fails(
        stack.up(),
        /user "app" of localhost:\d+ is also user "app" of localhost:\d+.*No password .* was added or removed.*Remove one/s,
      );
      for (const name of ["one", "other"]) if (stack.saved(name)) assert.ok(await isAccepted(name), name);
      assert.ok(stack.saved("one"));
    });
  }
});
