import { appendFileSync, cpSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Folder } from "./folder";
import { examples, installPackages, transpileOnly } from "./project";
import { writePulumiStandIn } from "./pulumiStandIn";
import { runAsync } from "./processes";

/** A repository of a user who has pipelines: the two projects that they name, with their packages installed. */
export class Repository extends Folder {
  readonly #bin = this.path("bin");

  /** @param hasPulumi whether scripts find the real `pulumi` on PATH; otherwise the local engine replaces it */
  constructor(hasPulumi: boolean) {
    super();
    for (const [project, example] of [
      ["rotation", "nightly-rotation"],
      ["flow-control", "flow-control-incident"],
    ] as const) {
      cpSync(join(examples, example), this.path(project), { recursive: true });
      installPackages(this.path(project));
    }
    for (const stack of ["production", "review"]) {
      this.write(`rotation/Pulumi.${stack}.yaml`, "config:\n  nightly-rotation:databaseId: db-sessions\n");
    }
    appendFileSync(this.path("rotation/index.ts"), "export const password = rotation.password;\n");
    mkdirSync(this.path("backend"));
    // The packages are installed already.
    this.write("bin/npm", "#!/bin/sh\n", 0o755);
    if (!hasPulumi) writePulumiStandIn(this.#bin);
  }

  /**
   * Runs a script as a pipeline does, in a folder of the repository. Resolves to all that it printed.
   * @throws Error if it fails
   */
  async run(script: string, environment: Record<string, string>, folder = "."): Promise<string> {
    const env = {
      PULUMI_SKIP_UPDATE_CHECK: "true",
      ...transpileOnly,
      ...environment,
      PATH: `${this.#bin}${delimiter}${process.env["PATH"]}`,
    };
    const cwd = this.path(folder);
    const { code, output } = await runAsync("sh", ["-e", "-c", script], { cwd, env });
    if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${output}`);
    return output;
  }
}
