import assert from "node:assert/strict";
import { join } from "node:path";
import { Team, whyNoAge } from "../support/age";
import { leaksOf } from "../support/canaries";
import { succeeds } from "./engineStack";
import { loadExample } from "./loadExample";
import { Folder } from "../support/folder";
import { closePlatforms, TestStack } from "./memory";
import { findOnPath, runAsync } from "../support/processes";
import { environmentOf, examples } from "../support/project";
import { databasePath } from "../support/resources";

const id = "db-sessions";
const printed = (variable: string) => [process.execPath, "-p", `process.env.${variable}`];
const whyNoSops = findOnPath("sops") ? undefined : "there is no `sops` on PATH";

describe("Without a password in any state, the example", () => {
  /** The job that deploys, which has the identity. */
  let team: Team;
  let folder: Folder;
  let stack: TestStack;
  beforeEach(async () => {
    team = await Team.create();
    folder = new Folder();
  });
  afterEach(async () => {
    folder.remove();
    await closePlatforms();
  });

  /** Adopts the database by an example, then resets its password. @returns the outputs, none of which is a secret */
  const rotateWith = async (example: string) => {
    const config = { databaseId: id, recipient: team.recipient, "rekey:databasePath": databasePath };
    const options = { databases: [id], databasePath, credentials: "always", config } as const;
    stack = await TestStack.start(() => loadExample(`hand-over/${example}`), options);
    const { platform } = stack;
    const up = async () => {
      const { outputs, printed } = await succeeds(stack.up());
      const { password, restToken } = platform.database(id);
      assert.deepEqual(leaksOf(stack.state + printed, { password, restToken }), []);
      return Object.fromEntries(Object.entries(outputs).map(([name, { value, secret }]) => [name, secret || value]));
    };
    await up();
    assert.equal(platform.resetCount, 0);
    stack.config["version"] = "leak";
    const outputs = await up();
    assert.equal(platform.resetCount, 1);
    return { outputs, ...platform.database(id) };
  };
  /** Runs a script of an example. */
  const run = (example: string, script: string, args: readonly string[], env: Record<string, string>) => {
    const cwd = join(examples, "hand-over", example);
    return runAsync(join(cwd, script), args, { cwd, env });
  };
  const itUnless = (why: string | undefined, title: string, test: () => Promise<void>) =>
    why === undefined ? it(title, test) : it.skip(`${title} (skipped: ${why})`);

  itUnless(whyNoAge, "age-deploy-job deploys with the address that it decrypts, not without the identity", async () => {
    const { outputs, password } = await rotateWith("age-deploy-job");
    const file = folder.write("credentials.age", String(outputs["credentials"]));
    const deploy = (AGE_IDENTITY: string, command = printed("REDIS_URL")) =>
      run("age-deploy-job", "deploy.sh", [file, ...command], { AGE_IDENTITY });
    const { code, output } = await deploy(team.identity);
    assert.equal(code, 0, output);
    assert.equal(new URL(output.trim()).password, password);
    assert.match((await deploy(team.identity, printed("AGE_IDENTITY"))).output, /^undefined$/m);
    const refused = await deploy((await Team.create()).identity);
    assert.notEqual(refused.code, 0);
    assert.doesNotMatch(refused.output, /redis/);
  });

  itUnless(whyNoAge ?? whyNoSops, "sops-kubernetes prints a Secret that the cluster alone can decrypt", async () => {
    const { outputs, password } = await rotateWith("sops-kubernetes");
    const operator = await Team.create();
    const file = folder.write("credentials.age", String(outputs["credentials"]));
    const env = { AGE_IDENTITY: team.identity, OPERATOR_RECIPIENT: operator.recipient };
    const { code, output } = await run("sops-kubernetes", "secret.sh", [file], env);
    assert.equal(code, 0, output);
    assert.deepEqual(leaksOf(output, { password }), []);
    const secret = folder.write("secret.yaml", output);
    const decrypt = (SOPS_AGE_KEY: string) =>
      runAsync("sops", ["decrypt", "--output-type", "json", secret], { cwd: folder.directory, env: { SOPS_AGE_KEY } });
    const { kind, metadata, stringData } = JSON.parse((await decrypt(operator.identity)).output) as {
      kind: string;
      metadata: { name: string };
      stringData: { url: string };
    };
    assert.deepEqual([kind, metadata.name], ["Secret", "sessions-database"]);
    assert.equal(new URL(stringData.url).password, password);
    assert.notEqual((await decrypt(team.identity)).code, 0);
  });

  it("read-platform deploys with what the platform shows, and not if it shows no password", async () => {
    const { outputs, password } = await rotateWith("read-platform");
    assert.ok(Date.parse(String(outputs["rotatedAt"])) > 0);
    const script = join(examples, "hand-over", "read-platform", "deploy.mjs");
    const env = { ...environmentOf(stack.platform), REKEY_DATABASE_PATH: databasePath };
    const deploy = (variable: string) =>
      runAsync(process.execPath, [script, id, ...printed(variable)], { cwd: folder.directory, env });
    assert.equal((await deploy("REDIS_PASSWORD")).output.trim(), password);
    assert.equal((await deploy("REKEY_PASSWORD")).output.trim(), "undefined", "the command does not get the key");
    stack.platform.failNext({ path: /database/, status: 200, body: { database_id: id, password: "****" } });
    const masked = await deploy("REDIS_PASSWORD");
    assert.equal(masked.code, 1);
    assert.match(masked.output, /does not show the password, so nothing is deployed/);
  });
});
