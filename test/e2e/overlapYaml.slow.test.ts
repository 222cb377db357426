import assert from "node:assert/strict";
import { startPlatform } from "../../local/platform/index";
import { Folder } from "../support/folder";
import { environmentOf } from "../support/project";
import { acceptsPassword, hasRedis, startRedisServer } from "../support/redis";
import { acceptsToken } from "../support/resources";
import { HomeWithPlugin, whyNoPrograms } from "./pluginArchive";

const queueUserId = "00000000-0000-4000-8000-000000000001";

const program = (redisPort: number): string => `
name: two-valid
runtime: yaml
config:
  version: { type: string }
resources:
  app:
    type: rekey:AclUserRotation
    properties:
      admin: { host: 127.0.0.1, port: ${redisPort}, tls: false, password: admin }
      userName: app
      version: \${version}
  queue:
    type: rekey:QueueTokenRotation
    properties: { queueUserId: ${queueUserId}, version: "\${version}" }
  handedUrl:
    type: rekey:Retirement
    properties: { access: "\${app.access}", credential: "\${app.connectionUrl}" }
  handedToken:
    type: rekey:Retirement
    properties: { access: "\${queue.access}", credential: "\${queue.token}" }
  turn:
    type: rekey:RotationTrigger
    properties: { version: "\${version}" }
  key:
    type: pulumi:index:Stash
    properties: { input: of some provider }
    options: { replacementTrigger: "\${turn.value}" }
outputs:
  app: \${handedUrl.credential}
  queue: \${handedToken.credential}
  turn: \${turn.value}
`;

const title =
  "A program in YAML with the plugin replaces a key by its trigger, and creates, rotates and retires a queue token and a password of a user";
const why = hasRedis ? whyNoPrograms("pulumi-language-yaml") : "there is no redis-server on PATH";

if (why !== undefined) it.skip(`${title} (skipped: ${why})`);
else {
  it(title, async function () {
    const platform = await startPlatform({ credentials: "read" });
    const redis = await startRedisServer();
    await redis.acl("SETUSER", "app", "on", ">first", "~*", "+@all");
    const home = await HomeWithPlugin.make();
    const folder = new Folder();
    folder.write("Pulumi.yaml", program(redis.port));
    const { REKEY_QUEUE_TOKEN: _, ...account } = environmentOf(platform);
    const run = (commands: string) => home.run(folder.directory, commands, this, account);
    /** What is accepted of both. */
    const accepted = async ({ app, queue }: Readonly<Record<"app" | "queue", string>>) => {
      const { username, password } = new URL(app);
      const at = { endpoint: "127.0.0.1", port: redis.port };
      return [await acceptsPassword(at, username, password), await acceptsToken(platform, queue)];
    };
    const show = async (output: string) => (await run(`pulumi stack output ${output} --show-secrets`)).trim();
    let former = { app: `redis://app:first@127.0.0.1:${redis.port}`, queue: platform.queueToken };
    try {
      await run(`pulumi stack init dev; pulumi config set rekey:queueUserId ${queueUserId}`);
      await run("pulumi config set version 1; pulumi up");
      assert.deepEqual(await accepted(former), [true, true]);
      for (const version of [1, 2]) {
        const printed = await run(`pulumi config set version ${version}; pulumi up`);
        assert.match(printed, /former password( that waited for its Retirement)? was retired/);
        assert.match(printed, /former token( that waited for its Retirement)? was retired/);
        assert.equal(/Stash +key +replaced/.test(printed), version === 2, printed);
        assert.match(await show("turn"), new RegExp(`^\\d{8}-${version - 1}-[0-9a-f]{6}$`));
        const current = { app: await show("app"), queue: await show("queue") };
        assert.deepEqual(
          [await accepted(former), await accepted(current)],
          [
            [false, false],
            [true, true],
          ],
        );
        former = current;
      }
      // The rotations learn what the end of the last `up` has done.
      assert.match(await run("pulumi up"), /2 updated\s+\+-2 replaced/);
      assert.match(await run("pulumi up"), /7 unchanged/);
    } finally {
      await redis.close();
      await platform.close();
      folder.remove();
      home.remove();
    }
  }).timeout(900_000);
}
