import type * as engineConfig from "../../local/engine/config";
import { type Check, ok, wrong } from "./check";
import type * as installation from "./installation";
import { checkNode } from "./node";
import type * as platform from "./platform";
import type * as settings from "./settings";
import type * as stackSettings from "./stackSettings";

/** Looks at all that a project needs, and changes nothing. What goes on only where something else is well is left out. */
export async function examine(cwd: string, stack: string, environment: NodeJS.ProcessEnv): Promise<Check[]> {
  const node = checkNode(process.versions.node);
  if (node.state === "wrong") return [node];
  // Loaded only now: an older Node cannot.
  const { findProject, readProject } = require("../../local/engine/config") as typeof engineConfig;
  let project: engineConfig.Project;
  try {
    project = readProject(findProject(cwd));
  } catch (error) {
    const mend =
      "rekey doctor looks at one Pulumi project whose runtime is nodejs: run it in its folder, or name that with --cwd.";
    return [node, wrong("the project", `${(error as Error).message}.`, mend)];
  }
  const { checkInstallation } = require("./installation") as typeof installation;
  const { readStackSettings } = require("./stackSettings") as typeof stackSettings;
  const { checkSettings, settingsOf } = require("./settings") as typeof settings;
  const { checkPlatform } = require("./platform") as typeof platform;
  const stored = await readStackSettings(project, stack, environment);
  return [
    node,
    ok("the project", `The project is ${project.name}, the stack ${stack}.`),
    ...checkInstallation(project),
    ...stored.problems,
    ...checkSettings(stored.settings, environment),
    ...(await checkPlatform(settingsOf(stored.settings, environment))),
  ];
}
