// One `up` of a program in a separate process, as a language host runs it. Sends the seconds of the start of Node, of
// the import of Pulumi's SDK, and of the `up`, which imports the rest.
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const loadedMs = performance.now();

const programs = {
  async nothing() {
    const { dynamic } = require("@pulumi/pulumi");
    const provider = {
      async create() {
        return { id: "nothing", outs: {} };
      },
    };
    new dynamic.Resource(provider, "nothing", {});
  },
  async fleet(ids) {
    const { PasswordRotationFleet } = require("pulumi-rekey");
    new PasswordRotationFleet("fleet", { databases: ids });
  },
};

process.once("message", async ({ workDir, program, ids, settings }) => {
  try {
    const inline = { stackName: "bench", projectName: "bench", program: () => programs[program](ids) };
    const projectSettings = { name: "bench", runtime: "nodejs" };
    const stack = await LocalWorkspace.createOrSelectStack(inline, { workDir, projectSettings });
    const config = Object.entries(settings).map(([name, value]) => {
      return [name, typeof value === "string" ? { value } : { value: value.secret, secret: true }];
    });
    await stack.setAllConfig(Object.fromEntries(config));
    const began = performance.now();
    await stack.up();
    process.send((loadedMs + performance.now() - began) / 1000, () => process.exit());
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
});
