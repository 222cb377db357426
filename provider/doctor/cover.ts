import { PlatformClient } from "../platformClient";
import { clockToleranceMs, readDate } from "../rotation/schedule";
import { listSecrets } from "./account";
import { coverageOf } from "./coverage";
import { reportOf, reportText } from "./coverageReport";
import { findProject } from "../settings/project";
import { settingsOf } from "./settings";
import { defaultStack, readStackSettings, type StackSettings } from "./stackSettings";
import { readStackState, type StackState } from "./stackState";

/** What `--coverage` is asked for. */
interface Covered {
  /** The project's folder, or a folder in it. */
  readonly cwd: string;
  /** Undefined: the one that is selected in the project, otherwise `dev`. */
  readonly stack?: string | undefined;
  /** A date, as `rotatedSince` reads it. */
  readonly since?: string | undefined;
  readonly json: boolean;
}

/**
 * Lists every secret of the account that can be rotated, and what the state of a stack knows of it. Only reads are
 * sent.
 *
 * @throws Error for a date that cannot be used
 */
export async function cover(
  { cwd, stack: given, since: written, json }: Covered,
  environment: NodeJS.ProcessEnv,
): Promise<{ text: string; isComplete: boolean }> {
  const now = new Date();
  const since = written === undefined ? undefined : dateIn(written, now);
  const project = findProject(cwd);
  const stack = project && (given ?? defaultStack(project));
  const { settings: configured, problems } = project && stack ? readStackSettings(project, stack) : noStack;
  const settings = settingsOf(configured ?? new Map(), environment);
  const client = new PlatformClient(settings);
  const account = await listSecrets(client);
  const state =
    project && stack ? readStackState(project, stack) : "There is no Pulumi.yaml here or in a folder above.";
  const isRead = typeof state !== "string";
  const coverage = coverageOf(account, isRead ? state : nothing, settings, { since, now });
  const subject = {
    since: written,
    stack: isRead ? stack : undefined,
    problems: [...problems.map(({ message, fix = "" }) => `${message} ${fix}`.trim()), ...(isRead ? [] : [state])],
  };
  const report = reportOf(coverage, subject, (text) => client.secrets.redactName(text));
  return {
    text: json ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report),
    isComplete: report.covered,
  };
}

const noStack: StackSettings = { settings: undefined, problems: [] };
const nothing: StackState = { rotated: [], unreadable: [] };

function dateIn(written: string, now: Date): Date {
  try {
    const date = readDate(written);
    if (date.getTime() > now.getTime() + clockToleranceMs) throw new Error("must not be in the future");
    return date;
  } catch (error) {
    throw new Error(`--since ${(error as Error).message}`, { cause: error });
  }
}
