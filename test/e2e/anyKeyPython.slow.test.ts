import assert from "node:assert/strict";
import { delimiter, dirname } from "node:path";
import { Folder } from "../support/folder";
import { findOnPath } from "../support/processes";
import { pulumiPath, whyNoEngine } from "./engine";
import { HomeWithPlugin } from "./pluginArchive";

/** Inline, because only the official CLI has the host that runs the program of a folder and generates the SDK. */
const program = `
import os
import pulumi
from pulumi import automation

def program():
    turn = pulumi.CustomResource("rekey:index:RotationTrigger", "turn", {"version": os.environ["VERSION"], "value": None})
    options = pulumi.ResourceOptions(replacement_trigger=turn.value if os.environ["TRIGGER"] == "on" else None)
    pulumi.Stash("key", input="of some provider", opts=options)
    pulumi.export("value", turn.value)

print(automation.create_or_select_stack("dev", "any-key", program).up().stdout)
`;

const title = "A program in Python with the plugin adopts a key by its trigger, and replaces it for a version";
const why = whyNoEngine ?? (findOnPath("python3") ? undefined : "there is no python3 on PATH");

if (why !== undefined) it.skip(`${title} (skipped: ${why})`);
else {
  it(title, async function () {
    const home = await HomeWithPlugin.make(pulumiPath);
    const folder = new Folder();
    folder.write("program.py", program);
    const run = (commands: string, environment = {}) =>
      home.run(folder.directory, commands, this, {
        PATH: `${dirname(pulumiPath)}${delimiter}${process.env["PATH"]}`,
        ...environment,
      });
    const up = (VERSION: string, TRIGGER = "on") => run("venv/bin/python program.py", { VERSION, TRIGGER });
    try {
      await run("python3 -m venv venv; venv/bin/pip install pulumi");
      assert.match(await up("1", "off"), /value: "\d{8}-0-/);
      assert.match(await up("1"), /3 unchanged/);
      assert.match(await up("2"), /-0-\w+" => "\d{8}-1-\w+"\s+Resources:\s+~ 1 updated\s+\+-1 replaced/);
      assert.match(await up("2"), /3 unchanged/);
    } finally {
      folder.remove();
      home.remove();
    }
  }).timeout(900_000);
}
