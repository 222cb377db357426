import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type Platform } from "../../local/platform/index";
import { Team, whyNoAge } from "../support/age";
import { leaksOf } from "../support/canaries";
import { succeeds } from "../support/engineStack";
import { loadExample } from "../support/examples";
import { Folder } from "../support/folder";
import { closePlatforms, TestStack } from "../support/memory";
import { runAsync } from "../support/processes";
import { environmentOf, examples } from "../support/project";
import { databasePath } from "../support/resources";

const id = "db-sessions";

/** A stack of an example, after an `up` that adopted the database. */
interface Run {
  readonly stack: TestStack;
  readonly platform: Platform;
  /** Of the job that deploys, which has the identity. */
  readonly team: Team;
  /** The example's folder, and one for what is written. */
  readonly directory: string;
  readonly folder: Folder;
  /** The outputs of an `up`, whose state and print have no credential. */
  readonly up: () => Promise<Record<string, unknown>>;
}

async function withExample(name: string, use: (run: Run) => Promise<void>): Promise<void> {
  const team = await Team.create();
  const config = { databaseId: id, recipient: team.recipient, "rekey:databasePath": databasePath };
  const program = () => loadExample(`hand-over/${name}`);
  const stack = await TestStack.start(program, { databases: [id], databasePath, credentials: "always", config });
  const { platform } = stack;
  const folder = new Folder();
  const up = async () => {
    const { outputs, printed } = await succeeds(stack.up());
    const { password, restToken } = platform.database(id);
    assert.deepEqual(leaksOf(stack.state + printed, { password, restToken }), []);
    return Object.fromEntries(Object.entries(outputs).map(([name, { value, secret }]) => [name, secret || value]));
  };
  try {
    await use({ stack, platform, team, directory: join(examples, "hand-over", name), folder, up });
  } finally {
    folder.remove();
    await closePlatforms();
  }
}

/** The new password after an `up` with another version. */
async function rotate({ stack, platform, up }: Run): Promise<Record<string, unknown>> {
  const before = platform.database(id).password;
  stack.config["version"] = "leak";
  const outputs = await up();
  assert.equal(platform.resetCount, 1);
  assert.notEqual(platform.database(id).password, before);
  return outputs;
}

const printed = (variable: string) => [process.execPath, "-p", `process.env.${variable}`];

describe("Without a password in any state, the example", function () {
  const jobTitle = "age-deploy-job deploys with the address that it decrypts, and not without the identity";
  if (whyNoAge !== undefined) it(`${jobTitle} (skipped: ${whyNoAge})`);
  else {
    it(jobTitle, () =>
      withExample("age-deploy-job", async (run) => {
        const { directory, folder, platform, team } = run;
        await run.up();
        const { credentials } = await rotate(run);
        const file = folder.write("credentials.age", String(credentials));
        const deploy = async (AGE_IDENTITY: string, command = printed("REDIS_URL")) =>
          runAsync(join(directory, "deploy.sh"), [file, ...command], {
            cwd: directory,
            env: { AGE_IDENTITY },
          });
        const { code, output } = await deploy(team.identity);
        assert.equal(code, 0, output);
        assert.equal(new URL(output.trim()).password, platform.database(id).password);
        assert.match((await deploy(team.identity, printed("AGE_IDENTITY"))).output, /^undefined$/m);
        const refused = await deploy((await Team.create()).identity);
        assert.notEqual(refused.code, 0);
        assert.doesNotMatch(refused.output, /redis/);
      }),
    );
  }

  const sopsTitle = "sops-kubernetes prints a Secret that the cluster alone can decrypt";
  const hasSops = spawnSync("sops", ["--version"]).status === 0;
  const whyNoSops = whyNoAge ?? (hasSops ? undefined : "there is no `sops` on PATH");
  if (whyNoSops !== undefined) it(`${sopsTitle} (skipped: ${whyNoSops})`);
  else {
    it(sopsTitle, () =>
      withExample("sops-kubernetes", async (run) => {
        const { directory, folder, platform, team } = run;
        await run.up();
        const { credentials } = await rotate(run);
        const { password } = platform.database(id);
        const operator = await Team.create();
        const file = folder.write("credentials.age", String(credentials));
        const env = { AGE_IDENTITY: team.identity, OPERATOR_RECIPIENT: operator.recipient };
        const { code, output } = await runAsync(join(directory, "secret.sh"), [file], { cwd: directory, env });
        assert.equal(code, 0, output);
        assert.deepEqual(leaksOf(output, { password }), []);
        const secret = folder.write("secret.yaml", output);
        const decrypt = (SOPS_AGE_KEY: string) =>
          runAsync("sops", ["decrypt", "--output-type", "json", secret], {
            cwd: directory,
            env: { SOPS_AGE_KEY },
          });
        const { kind, metadata, stringData } = JSON.parse((await decrypt(operator.identity)).output) as {
          kind: string;
          metadata: { name: string };
          stringData: { url: string };
        };
        assert.deepEqual([kind, metadata.name], ["Secret", "sessions-database"]);
        assert.equal(new URL(stringData.url).password, password);
        assert.notEqual((await decrypt(team.identity)).code, 0);
      }),
    );
  }

  it("read-platform deploys with what the platform shows, and not if it shows no password", () =>
    withExample("read-platform", async (run) => {
      const { directory, platform } = run;
      await run.up();
      assert.equal(platform.resetCount, 0);
      const { rotatedAt } = await rotate(run);
      assert.ok(Date.parse(String(rotatedAt)) > 0);
      const deploy = (variable: string) =>
        runAsync(process.execPath, [join(directory, "deploy.mjs"), id, ...printed(variable)], {
          cwd: directory,
          env: { ...environmentOf(platform), REKEY_DATABASE_PATH: databasePath },
        });
      assert.equal((await deploy("REDIS_PASSWORD")).output.trim(), platform.database(id).password);
      assert.equal((await deploy("REKEY_PASSWORD")).output.trim(), "undefined", "the command does not get the key");
      platform.failNext({ path: /database/, status: 200, body: { database_id: id, password: "****" } });
      const masked = await deploy("REDIS_PASSWORD");
      assert.equal(masked.code, 1);
      assert.match(masked.output, /does not show the password, so nothing is deployed/);
    }));
});
