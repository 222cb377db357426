import assert from "node:assert/strict";
import { Folder } from "../support/folder";
import { HomeWithPlugin, whyNoPrograms } from "./pluginArchive";

const program = `
name: any-key
runtime: yaml
config:
  version: { type: string }
resources:
  turn:
    type: rekey:RotationTrigger
    properties: { version: "\${version}" }
  key:
    type: pulumi:index:Stash
    properties: { input: of some provider }
    options: { replacementTrigger: "\${turn.value}" }
  person:
    type: rekey:RotationTrigger
    properties: { byHand: true, rotateEvery: PT1S }
outputs:
  turn: \${turn.value}
  waits: \${person.waits}
`;

const title = "A program in YAML with the plugin replaces a key by its trigger, and waits for a person";
const why = whyNoPrograms("pulumi-language-yaml");

if (why !== undefined) it.skip(`${title} (skipped: ${why})`);
else {
  it(title, async function () {
    const home = await HomeWithPlugin.make();
    const folder = new Folder();
    folder.write("Pulumi.yaml", program);
    const run = (commands: string) => home.run(folder.directory, commands, this);
    try {
      await run("pulumi stack init dev; pulumi config set version 1; pulumi up");
      for (const version of [1, 2, 2]) {
        const before = await run("pulumi stack output turn");
        const printed = await run(`pulumi config set version ${version}; pulumi up`);
        const isTurned = (await run("pulumi stack output turn")) !== before;
        assert.equal(/Stash +key +replaced/.test(printed), isTurned, printed);
        assert.match(await run("pulumi stack output turn"), new RegExp(`^\\d{8}-${version - 1}-[0-9a-f]{6}\\s$`));
        assert.match(printed, /warning: The trigger is due to be turned.* a person is to replace the secret/);
        assert.match(await run("pulumi stack output waits"), /^a person is to replace the secret/);
      }
      assert.match(await run("pulumi up"), /4 unchanged/);
    } finally {
      folder.remove();
      home.remove();
    }
  }).timeout(900_000);
}
