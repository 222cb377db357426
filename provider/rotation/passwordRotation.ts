import { type DesiredRotation, futureTime, isOtherAccount, overdueNotice, type RotationPlan } from "./planRotation";
import { checkConnection, withoutConnection } from "./clientEndpoint";
import { execute, isReadFirst, type PasswordRotationInputs, planFor } from "./execute";
import { diagnosticsOf } from "./notices";
import { refreshDatabase } from "./refresh";
import { type Applied, type CheckFailure, type Difference, type Resource } from "./resource";
import { type PasswordRotationOutputs, passwordRotationOutputs, secretPasswordRotationOutputs } from "./saved";
import { type Session } from "./session";

export const passwordRotation: Resource<PasswordRotationInputs, PasswordRotationOutputs, Session> = {
  idInput: "databaseId",
  outputs: [...passwordRotationOutputs, "connectionUrl", "restUrl"],
  secretOutputs: [...secretPasswordRotationOutputs, "connectionUrl", "restUrl"],
  hiddenInputs: ["owner", "otherOwners"],
  decidingInputs: ["databaseId", "version", "triggers", "rotateEvery"],
  importedInputs: (databaseId) => ({ databaseId, initialRotation: false }),
  hasUrls: true,
  check,
  diff,
  noticeOfUnknown,
  apply,
  refresh,
};

export function check(inputs: PasswordRotationInputs, unknown: ReadonlySet<string>, session: Session): CheckFailure[] {
  const { checkInputs, passwordRotationInputs } = require("./inputs") as typeof import("./inputs");
  const failures = [
    ...checkInputs(passwordRotationInputs, withoutConnection(inputs), unknown),
    ...checkConnection({ ...inputs }, unknown, session.options.databaseHost),
  ];
  const { databaseId, owner, otherOwners } = inputs;
  if (failures.length > 0 || typeof owner !== "string" || unknown.has("databaseId") || unknown.has("owner")) {
    return failures;
  }
  const other = session.claim(databaseId, owner, otherOwners);
  if (other === undefined) return [];
  return [{ property: "databaseId", reason: rotatedTwice(databaseId, other), code: "REKEY_DUPLICATE_DATABASE" }];
}

/** Why a resource cannot rotate a database. */
export function rotatedTwice(databaseId: string, other: string): string {
  const advice =
    "Remove one of them. If both have reset it, the saved password of one is stale: set a new version on the one that stays";
  return `database ${JSON.stringify(databaseId)} is already rotated by ${other}: each reset by one invalidates the password of the other. ${advice}`;
}

export function diff(saved: PasswordRotationOutputs, inputs: PasswordRotationInputs, session: Session): Difference {
  const isReplaced = saved.databaseId !== inputs.databaseId;
  const plan = planFor(isReplaced ? undefined : saved, inputs, session);
  const isRead = !isReplaced && isReadFirst(plan, saved, session);
  const now = session.options.now();
  const notice = noticeOf(plan, inputs, now, isRead);
  const isStale = plan.do === "keep" && isOtherAccount(saved.account, session.options.account);
  const future = plan.do === "keep" ? futureTime(saved, inputs, now) : undefined;
  const warnings = [
    ...(isStale ? [otherAccountWarning(inputs.databaseId)] : []),
    ...(future === undefined ? [] : [futureWarning(inputs.databaseId, future)]),
  ];
  return {
    changes: plan.do !== "keep" || isRead,
    ...(isReplaced && { replaces: ["databaseId"] }),
    ...(notice !== undefined && { notice }),
    ...(warnings.length > 0 && { warning: warnings.join("\n") }),
  };
}

export async function apply(
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  session: Session,
): Promise<Applied<PasswordRotationOutputs>> {
  const { notices, ...done } = await execute(planFor(saved, inputs, session), saved, inputs, session);
  return { ...done, ...diagnosticsOf(notices) };
}

/** Reads the database, if the platform allows it. */
export async function refresh(
  saved: PasswordRotationOutputs,
  session: Session,
): Promise<Applied<PasswordRotationOutputs>> {
  const { outputs, notices } = await refreshDatabase(saved, session);
  return { outputs, ...diagnosticsOf(notices) };
}

/** Announces a reset, and why. A resource with saved outputs is only created to be replaced. */
function noticeOf(
  plan: RotationPlan,
  { databaseId, rotateEvery }: PasswordRotationInputs,
  now: Date,
  isRead: boolean,
): string | undefined {
  const password = `The password of database ${JSON.stringify(databaseId)}`;
  if (isRead && plan.do === "keep") return `${password} will be read: some of its credentials are not known yet.`;
  const before = isRead ? " It is read first: if that shows that the last reset was applied, it is saved instead." : "";
  if (plan.do === "refuse") return `${password} will not be reset: ${plan.why}.${before}`;
  if (plan.do !== "reset") return undefined;
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

/** Announces that a reset depends on unknown inputs. Undefined if no value of them can cause one. */
function noticeOfUnknown(
  saved: PasswordRotationOutputs,
  inputs: PasswordRotationInputs,
  unknown: ReadonlySet<string>,
  session: Session,
): string | undefined {
  const { databaseId } = inputs;
  const before = saved.databaseId === databaseId ? saved : undefined;
  const plan = planFor(before, withEarliestSchedule(inputs, unknown), session);
  if (plan.do !== "reset") return undefined;
  const of = unknown.has("databaseId") ? "the database" : `database ${JSON.stringify(databaseId)}`;
  const names = passwordRotation.decidingInputs.filter((name) => unknown.has(name));
  return `The password of ${of} may be reset: ${notKnownYet(names)}.`;
}

/** With them, a reset is planned if one is possible: the marker of an unknown trigger differs from the saved one. */
export function withEarliestSchedule<T extends DesiredRotation>(desired: T, unknown: ReadonlySet<string>): T {
  return unknown.has("rotateEvery") ? { ...desired, rotateEvery: "1s" } : desired;
}

/** `version is not known yet`, or `version and triggers are not known yet` */
export function notKnownYet(names: readonly string[]): string {
  return `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} not known yet`;
}
