import { join } from "node:path";
import { rolldown } from "rolldown";
import { Folder } from "./folder";
import { projectRoot } from "./host";

/** Packs a program, which is an ES module, and pulumi-rekey into one file; Pulumi's SDK stays outside. */
export async function bundle(program: string, format: "cjs" | "esm"): Promise<string> {
  const folder = new Folder();
  try {
    const bundler = await rolldown({
      input: folder.write("program.mjs", program),
      platform: "node",
      external: [/^@pulumi\/pulumi/],
      resolve: { modules: ["node_modules", join(projectRoot, "node_modules")] },
      onLog: () => undefined,
    });
    const { output } = await bundler.generate({ format, codeSplitting: false });
    return output[0].code;
  } finally {
    folder.remove();
  }
}
