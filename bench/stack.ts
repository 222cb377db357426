import { fork } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { Folder } from "../test/support/folder";
import { type Settings } from "../test/support/project";

const { findPulumi } = require("../scripts/engine.cjs") as { findPulumi: () => string | undefined };
const root = resolve(__dirname, "..");

/** Runs a new stack on the real engine. @param program one of upProcess.cjs @returns the seconds of each `up` */
export async function timeUps(
  count: number,
  program: "nothing" | "fleet",
  ids: readonly string[] = [],
  settings: Settings = {},
): Promise<number[]> {
  const folder = new Folder();
  symlinkSync(join(root, "node_modules"), folder.path("node_modules"), "junction");
  const path = [dirname(findPulumi() ?? ""), join(root, "test/engine/bin"), dirname(process.execPath)];
  const env = {
    ...process.env,
    PATH: [...path, process.env["PATH"]].join(delimiter),
    PULUMI_BACKEND_URL: `file://${folder.directory}`,
    PULUMI_CONFIG_PASSPHRASE: "bench",
    PULUMI_HOME: folder.path("home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
  const up = async (): Promise<number> => {
    const child = fork(join(__dirname, "upProcess.cjs"), { env });
    child.send({ workDir: folder.directory, program, ids, settings });
    const failed = once(child, "exit").then(([code]) => {
      throw new Error(`The \`up\` ended with ${code}.`);
    });
    // It also ends after its message.
    failed.catch(() => undefined);
    const [seconds] = (await Promise.race([once(child, "message"), failed])) as [number];
    return seconds;
  };
  try {
    const seconds: number[] = [];
    while (seconds.length < count) seconds.push(await up());
    return seconds;
  } finally {
    folder.remove();
  }
}
