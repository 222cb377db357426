import { type EventEmitter } from "node:events";
import { delimiter, dirname, join } from "node:path";
import { type Folder } from "../support/folder";
import { projectRoot } from "../support/host";

const { findPulumi, whyNoPulumi } = require("../../scripts/engine.cjs") as {
  findPulumi: () => string | undefined;
  whyNoPulumi: string;
};

/** The path of the real engine; empty if there is none. */
export const pulumiPath = findPulumi() ?? "";

/** Why programs cannot run on the real engine here; undefined if they can. */
export const whyNoEngine = pulumiPath === "" ? whyNoPulumi : undefined;

export const passphrase = "test";

/** The environment of commands of that engine, whose state and home are in a folder. @param path before others */
export function environmentIn(folder: Folder, ...path: readonly string[]): Record<string, string> {
  const own = [dirname(pulumiPath), join(projectRoot, "test/engine/bin"), dirname(process.execPath)];
  return {
    PATH: [...path, ...own, process.env["PATH"]].join(delimiter),
    PULUMI_BACKEND_URL: `file://${folder.path("backend")}`,
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    PULUMI_HOME: folder.path("home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
}

/** A failed program rejects promises that nothing handles: the Automation API reports them, and mocha must not. */
export function ignoreUnhandled(): void {
  const emitter: EventEmitter = process;
  for (const event of ["unhandledRejection", "uncaughtException"]) {
    let listeners: unknown[] = [];
    before(() => {
      listeners = emitter.listeners(event);
      emitter.removeAllListeners(event).on(event, () => undefined);
    });
    after(() => {
      emitter.removeAllListeners(event);
      for (const listener of listeners) emitter.on(event, listener as () => void);
    });
  }
}
