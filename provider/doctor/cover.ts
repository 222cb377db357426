import { PlatformClient } from "../platformClient";
import { clockToleranceMs, readDate } from "../rotation/schedule";
import { type Settings } from "../settings/settings";
import { listSecrets } from "./account";
import { coverageOf } from "./coverage";
import { type CoverageReport } from "./coverageText";
import { type RotatedSecret } from "./stackState";

/**
 * Lists every secret of the account that can be rotated, and what the state of a stack knows of it. Only reads are
 * sent.
 *
 * @param state why it was not read, if it was not
 * @throws Error for a date that cannot be used
 */
export async function cover(
  { since, stack }: Pick<CoverageReport, "since" | "stack">,
  state: readonly RotatedSecret[] | string,
  settings: Settings,
): Promise<CoverageReport> {
  const now = new Date();
  const times = { since: since === undefined ? undefined : dateIn(since, now), now };
  const client = new PlatformClient(settings);
  const account = await listSecrets(client);
  const isRead = typeof state !== "string";
  const coverage = coverageOf(account, isRead ? state : [], settings, times);
  const report: CoverageReport = isRead
    ? { since, stack, ...coverage }
    : { since, ...coverage, notes: [state, ...coverage.notes] };
  // Names come from elsewhere.
  const shown = (_: string, value: unknown) => (typeof value === "string" ? client.secrets.redactName(value) : value);
  return JSON.parse(JSON.stringify(report, shown)) as CoverageReport;
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
