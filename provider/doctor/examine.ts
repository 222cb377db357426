import { findProject } from "../settings/project";
import { type Check, checkNode, ok, wrong } from "./check";
import type * as installation from "./installation";
import type * as platform from "./platform";
import type * as settings from "./settings";
import { defaultStack, readStackSettings } from "./stackSettings";

/** What the command is asked to check. */
export interface Examined {
  /** The project's folder, or a folder in it. */
  readonly cwd: string;
  /** Undefined: the one that is selected in the project, otherwise `dev`. */
  readonly stack?: string | undefined;
  /** Id of a database to read; none if undefined. */
  readonly database?: string | undefined;
}

/** Checks everything that a project needs, and changes nothing. */
export async function examine(
  { cwd, stack: given, database }: Examined,
  environment: NodeJS.ProcessEnv,
): Promise<Check[]> {
  const node = checkNode(process.versions.node);
  if (node.state === "wrong") return [node];
  const project = findProject(cwd);
  if (project === undefined) {
    const fix = "Run pulumi-rekey doctor in the folder of a Pulumi project, or name that folder with --cwd.";
    return [node, wrong("the project", `There is no Pulumi.yaml in ${cwd} or in a folder above it.`, fix)];
  }
  // Loaded only now: an older Node cannot load them.
  const { checkInstallation } = require("./installation") as typeof installation;
  const { checkSettings, settingsOf } = require("./settings") as typeof settings;
  const { checkPlatform } = require("./platform") as typeof platform;
  const stack = given ?? defaultStack(project);
  const { settings: stored, problems } = readStackSettings(project, stack);
  const configured = stored ?? new Map();
  return [
    node,
    ok("the project", `The project is ${project.name}, and the stack is ${stack}.`),
    ...checkInstallation(project),
    ...problems,
    ...checkSettings(configured, environment, stored !== undefined),
    ...(await checkPlatform(settingsOf(configured, environment), database)),
  ];
}
