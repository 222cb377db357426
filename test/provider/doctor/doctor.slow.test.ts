import assert from "node:assert/strict";
import { EngineStack, onEngine } from "../../e2e/engineStack";
import { Folder } from "../../support/folder";
import { runAsync } from "../../support/processes";
import { main } from "./fixture";

onEngine("pulumi-rekey doctor", () => {
  it("reads the configuration of a stack, if it has the passphrase", async () => {
    const { name, directory, variables } = await EngineStack.start(() => {}, {
      config: { "rekey:queueToken": "plain" },
    });
    const doctor = (more: Record<string, string> = {}) => {
      const options = { cwd: directory, env: { ...variables, ...more } };
      return runAsync(process.execPath, [main, "doctor", "--stack", name], options);
    };
    const { output } = await doctor();
    assert.match(output, /^ok {5}rekey:password is set \(from the stack's configuration\)/m);
    assert.match(output, /^WRONG {2}rekey:queueToken is stored in plain text/m);
    const another = await doctor({ PULUMI_CONFIG_PASSPHRASE: "another" });
    assert.match(another.output, /^WRONG {2}The stack's configuration was not read: .*incorrect passphrase/m);
  });

  it("compares the state of a stack of another project, also of one without resources", async () => {
    const { name, directory, variables } = await EngineStack.start(() => {});
    const folder = new Folder();
    const doctor = (cwd: string, stack: string) =>
      runAsync(process.execPath, [main, "doctor", "--coverage", "--stack", stack], { cwd, env: variables });
    const qualified = `organization/program/${name}`;
    const { output } = await doctor(folder.directory, qualified);
    assert.match(output, new RegExp(`^Compared with the state of ${qualified}\\.$`, "m"));
    const unqualified = await doctor(folder.directory, name);
    assert.match(unqualified.output, new RegExp(`^The state of ${name} was not read: no Pulumi.yaml`, "m"));
    const own = await doctor(directory, name);
    assert.match(own.output, new RegExp(`^Compared with the state of ${name}\\.$`, "m"));
    folder.remove();
  });
});
