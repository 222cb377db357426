import { PlatformClient } from "../platformClient";
import { clockToleranceMs, readDate } from "../rotation/schedule";
import { findProject } from "../settings/project";
import { listSecrets } from "./account";
import { coverageOf } from "./coverage";
import { coverageText, type CoverageReport } from "./coverageText";
import { settingsOf } from "./settings";
import { defaultStack, readStackSettings } from "./stackSettings";
import { readStackState } from "./stackState";

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
  { cwd, stack: given, since, json }: Covered,
  environment: NodeJS.ProcessEnv,
): Promise<{ text: string; isComplete: boolean }> {
  const now = new Date();
  const date = since === undefined ? undefined : dateIn(since, now);
  const project = findProject(cwd);
  const stack = project && (given ?? defaultStack(project));
  const stored = project && stack ? readStackSettings(project, stack) : undefined;
  const settings = settingsOf(stored?.settings ?? new Map(), environment);
  const client = new PlatformClient(settings);
  const account = await listSecrets(client);
  const state =
    project && stack ? readStackState(project, stack) : "There is no Pulumi.yaml here or in a folder above.";
  const isRead = typeof state !== "string";
  const report: CoverageReport = {
    since,
    stack: isRead ? stack : undefined,
    problems: [
      ...(stored?.problems ?? []).map(({ message, fix = "" }) => `${message} ${fix}`.trim()),
      ...(isRead ? [] : [state]),
    ],
    ...coverageOf(account, isRead ? state : [], settings, { since: date, now }),
  };
  // Names come from elsewhere.
  const shown = JSON.stringify(
    report,
    (_, value: unknown) => (typeof value === "string" ? client.secrets.redactName(value) : value),
    2,
  );
  const text = json ? `${shown}\n` : coverageText(JSON.parse(shown) as CoverageReport);
  return { text, isComplete: report.covered };
}

function dateIn(written: string, now: Date): Date {
  try {
    const date = readDate(written);
    if (date.getTime() > now.getTime() + clockToleranceMs) throw new Error("must not be in the future");
    return date;
  } catch (error) {
    throw new Error(`--since ${(error as Error).message}`, { cause: error });
  }
}
