import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { examples } from "./example";
import { installPackages } from "./program";
import { writePulumiStandIn } from "./pulumiStandIn";
import { runAsync } from "./runAsync";

/** A repository of a user who has pipelines: the two projects that they name, with their packages installed. */
export class Repository {
  readonly directory = mkdtempSync(join(tmpdir(), "rekey-repository-"));
  readonly #bin = join(this.directory, "bin");

  /** @param hasPulumi whether scripts find the real `pulumi` on PATH; the local engine stands in for it otherwise */
  constructor(hasPulumi: boolean) {
    for (const [project, example] of [
      ["rotation", "nightly-rotation"],
      ["flow-control", "flow-control-incident"],
    ] as const) {
      cpSync(join(examples, example), join(this.directory, project), { recursive: true });
      installPackages(join(this.directory, project));
    }
    const rotation = join(this.directory, "rotation");
    writeFileSync(join(rotation, "Pulumi.production.yaml"), "config:\n  nightly-rotation:databaseId: db-sessions\n");
    appendFileSync(join(rotation, "index.ts"), "export const password = rotation.password;\n");
    for (const folder of ["bin", "backend"]) mkdirSync(join(this.directory, folder));
    // The packages are installed already.
    writeFileSync(join(this.#bin, "npm"), "#!/bin/sh\n", { mode: 0o755 });
    if (!hasPulumi) writePulumiStandIn(this.#bin);
  }

  /** Runs a script as a pipeline does, in a folder of the repository. Resolves to all that it printed. @throws Error if it fails */
  async run(script: string, environment: Record<string, string>, folder = "."): Promise<string> {
    const env = {
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // The project's own check has looked at the types.
      PULUMI_NODEJS_TRANSPILE_ONLY: "true",
      ...environment,
      PATH: `${this.#bin}${delimiter}${process.env["PATH"]}`,
    };
    const cwd = join(this.directory, folder);
    const { code, output } = await runAsync("sh", ["-e", "-c", script], { cwd, env });
    if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${output}`);
    return output;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
