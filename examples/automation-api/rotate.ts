// Resets the password of one database now, from a script: `npx ts-node rotate.ts <stack> <databaseId> <why>`. The
// program is part of the script. The backend is that of `pulumi login` or PULUMI_BACKEND_URL.
import { LocalWorkspace } from "@pulumi/pulumi/automation";
import { PasswordRotation } from "pulumi-rekey";

// The script can be started from any folder: Rekey searches for its package from the working directory.
process.chdir(__dirname);

async function rotate(stackName: string, databaseId: string, version: string): Promise<void> {
  const program = async () => {
    const { rotatedAt, rotationCount, outcome } = new PasswordRotation("database", { databaseId, version });
    return { rotatedAt, rotationCount, outcome };
  };
  const stack = await LocalWorkspace.createOrSelectStack(
    { stackName, projectName: "rotate-now", program },
    // Pulumi's provider host searches for packages from here. The default is a temporary folder.
    { workDir: __dirname },
  );
  // Fails at once if another run has locked the stack. That run must not be cancelled.
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
  // Only the message: the errors of the engine are complete without a stack trace.
  rotate(stackName, databaseId, version).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
