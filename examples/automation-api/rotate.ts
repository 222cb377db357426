// Rotates one database now, from a script: `npx ts-node rotate.ts <stack> <databaseId> <why>`. The program is inside,
// so no project folder is needed; the state is where `pulumi login` or PULUMI_BACKEND_URL says.
import { LocalWorkspace } from "@pulumi/pulumi/automation";
import { PasswordRotation } from "pulumi-rekey";

async function rotate(stackName: string, databaseId: string, version: string): Promise<void> {
  const stack = await LocalWorkspace.createOrSelectStack({
    stackName,
    projectName: "rotate-now",
    program: async () => {
      const { rotatedAt, rotationCount, outcome } = new PasswordRotation("database", { databaseId, version });
      return { rotatedAt, rotationCount, outcome };
    },
  });
  // Where another run holds the stack's lock this fails at once: it is left alone, never cancelled.
  const { summary, outputs } = await stack.up({ onOutput: (text) => process.stdout.write(text) });
  if (!summary.resourceChanges?.create && !summary.resourceChanges?.update) {
    console.log(`Nothing was reset: the version ${version} has been applied before.`);
  }
  console.log(`rotatedAt ${outputs["rotatedAt"]?.value}, in all ${outputs["rotationCount"]?.value}`);
}

const [stackName, databaseId, version] = process.argv.slice(2);
if (stackName === undefined || databaseId === undefined || version === undefined) {
  console.error("usage: rotate.ts <stack> <databaseId> <why: anything that is new>");
  process.exitCode = 2;
} else {
  // The message alone: errors of the engine say all that a person needs.
  rotate(stackName, databaseId, version).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
