import { type DesiredRotation, futureTime, isOtherAccount, overdueNotice, type RotationPlan } from "./planRotation";
import { execute, isReadFirst, type PasswordRotationInputs, planFor } from "./execute";
import { refreshDatabase } from "./refresh";
import { type CheckFailure, type Claim, type Difference, type Notice, type Resource, type Schemas } from "../resource";
import { type Run } from "../run";
import { type PasswordRotationOutputs, passwordRotationOutputs, secretPasswordRotationOutputs } from "./outputs";
import { readInterval } from "./schedule";

export const passwordRotation: Resource<PasswordRotationInputs, PasswordRotationOutputs> = {
  idInput: "databaseId",
  outputs: passwordRotationOutputs,
  secretOutputs: secretPasswordRotationOutputs,
  decidingInputs: ["databaseId", "version", "triggers", "rotateEvery"],
  inputs: (schemas) => ({
    required: ["databaseId"],
    schemas: { databaseId: schemas.pathPart, ...rotationInputs(schemas) },
  }),
  claims({ databaseId, otherOwners }, unknown) {
    return unknown.has("databaseId") ? [] : [claimOf("databaseId", databaseId, { otherOwners })];
  },
  diff,
  noticesOfUnknown,
  apply: (saved, inputs, run) => execute(planFor(saved, inputs, run), saved, inputs, run),
  refresh: refreshDatabase,
  importedInputs: (databaseId) => ({ databaseId, initialRotation: false }),
};

/** The inputs of each rotation. */
export function rotationInputs({ z, attempt, expected, flag, trigger }: Schemas) {
  const interval = z.string(expected("a duration written as a string")).superRefine(attempt(readInterval));
  return { ...trigger, rotateEvery: interval, initialRotation: flag };
}

/**
 * The claim of a resource that rotates a database.
 *
 * @param property the input that names the database
 */
export function claimOf(property: string, databaseId: string, owners: Pick<Claim, "owner" | "otherOwners">): Claim {
  const refusedFor = (other: string): CheckFailure => {
    const advice =
      "Remove one of them. If both have reset it, the saved password of one is stale: set a new version on the one that stays";
    const reason = `database ${JSON.stringify(databaseId)} is already rotated by ${other}: each reset by one invalidates the password of the other. ${advice}`;
    return { property, reason, code: "REKEY_DUPLICATE_DATABASE" };
  };
  return { subject: databaseId, ...owners, refusedFor };
}

function diff(saved: PasswordRotationOutputs, inputs: PasswordRotationInputs, run: Run): Difference {
  const isReplaced = saved.databaseId !== inputs.databaseId;
  const plan = planFor(isReplaced ? undefined : saved, inputs, run);
  const isRead = !isReplaced && isReadFirst(plan, saved, run);
  const now = run.options.clock.now();
  const notice = noticeOf(plan, inputs, now, isRead);
  const isStale = plan.kind === "keep" && isOtherAccount(saved.account, run.options.account);
  const future = plan.kind === "keep" ? futureTime(saved, inputs, now) : undefined;
  const notices: Notice[] = [];
  if (notice !== undefined) notices.push({ text: notice });
  if (isStale) notices.push({ text: otherAccountWarning(inputs.databaseId), isWarning: true });
  if (future !== undefined) notices.push({ text: futureWarning(inputs.databaseId, future), isWarning: true });
  return {
    changes: plan.kind !== "keep" || isRead,
    ...(isReplaced && { replaces: ["databaseId"] }),
    notices,
  };
}

/** Announces a reset, and why. A resource with saved outputs is only created to be replaced. */
function noticeOf(
  plan: RotationPlan,
  { databaseId, rotateEvery }: PasswordRotationInputs,
  now: Date,
  isRead: boolean,
): string | undefined {
  const password = `The password of database ${JSON.stringify(databaseId)}`;
  if (isRead && plan.kind === "keep") return `${password} will be read: some of its credentials are not known yet.`;
  const before = isRead ? " It is read first: if that shows that the last reset was applied, it is saved instead." : "";
  if (plan.kind === "refuse") return `${password} will not be reset: ${plan.why}.${before}`;
  if (plan.kind !== "reset") return undefined;
  switch (plan.reason) {
    case "created":
      return `${password} will be reset: databaseId has changed, so the resource is replaced.`;
    case "trigger":
      return `${password} will be reset: version or triggers have changed.`;
    case "schedule": {
      const late = overdueNotice([plan], String(rotateEvery), now);
      return `${password} is due for a reset by rotateEvery: it was last reset at ${plan.since}.${late}`;
    }
    case "unconfirmed":
      return `${password} will be reset once more: the last reset was not confirmed, so its credentials are unknown.${before}`;
  }
}

/** The address and the user name are not shown: a setting may hold a secret, by mistake. */
function otherAccountWarning(databaseId: string): string {
  return `Database ${JSON.stringify(databaseId)} was last reset or adopted with another baseUrl or username, and is not reset now. If they belong to another account, the saved credentials are not those of this database: set a new version, which resets its password.`;
}

function futureWarning(databaseId: string, last: string): string {
  return `By the saved state, database ${JSON.stringify(databaseId)} was last reset or adopted at ${last}, which is in the future: rotateEvery counts from then. Check the clocks; a new version resets the password now.`;
}

/** Announces that a reset depends on unknown inputs, if a value of them can cause one. */
function noticesOfUnknown(
  saved: PasswordRotationOutputs,
  inputs: PasswordRotationInputs,
  unknown: ReadonlySet<string>,
  run: Run,
): Notice[] {
  const { databaseId } = inputs;
  const before = saved.databaseId === databaseId ? saved : undefined;
  const plan = planFor(before, withEarliestSchedule(inputs, unknown), run);
  if (plan.kind !== "reset") return [];
  const of = unknown.has("databaseId") ? "the database" : `database ${JSON.stringify(databaseId)}`;
  const names = passwordRotation.decidingInputs.filter((name) => unknown.has(name));
  return [{ text: `The password of ${of} may be reset: ${notKnownYet(names)}.` }];
}

/** With them, a reset is planned if one is possible: the marker of an unknown trigger differs from the saved one. */
export function withEarliestSchedule<T extends DesiredRotation>(desired: T, unknown: ReadonlySet<string>): T {
  return unknown.has("rotateEvery") ? { ...desired, rotateEvery: "1s" } : desired;
}

/** `version is not known yet`, or `version and triggers are not known yet` */
export function notKnownYet(names: readonly string[]): string {
  return `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} not known yet`;
}
