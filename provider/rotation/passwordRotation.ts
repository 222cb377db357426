import { type Credentials, type DatabaseRecord } from "../records/database";
import { RefusedError, RekeyError, UnconfirmedError, withCode } from "../platform/errors";
import {
  overdueNotice,
  planRotation,
  type RotationPlan,
  type RotationReason,
  type DesiredRotation,
  type RotationState,
} from "./planRotation";
import { canonicalTrigger, compareTrigger, isNoTrigger, markTrigger } from "./trigger";
import { checkConnection, type Connection, withoutConnection } from "./clientEndpoint";
import { type Applied, type CheckFailure, type Difference } from "./resource";
import { type Session } from "./session";
import { createHash } from "node:crypto";

/** What a PasswordRotation saves. */
export interface PasswordRotationOutputs extends RotationState, Credentials {
  readonly databaseId: string;
  readonly record?: DatabaseRecord;
  readonly exactIntegers?: Readonly<Record<string, string>>;
  readonly otherFields?: string;
  readonly problems?: readonly string[];
  readonly rotationCount: number;
  readonly rotationReason?: RotationReason;
  /** Mark of the account of the last confirmed reset or the adoption. */
  readonly account?: string;
}

/** Outputs that are always secret. */
export const secretPasswordRotationOutputs = [
  "password",
  "restToken",
  "readOnlyRestToken",
  "otherFields",
  "appliedTrigger",
  "attemptedTrigger",
  "account",
] as const satisfies readonly (keyof PasswordRotationOutputs)[];

/** The names of all outputs. */
export const passwordRotationOutputs = [
  "databaseId",
  "record",
  "exactIntegers",
  "problems",
  "outcome",
  "rotatedAt",
  "adoptedAt",
  "rotationCount",
  "rotationReason",
  "unconfirmedResets",
  ...secretPasswordRotationOutputs,
] as const satisfies readonly (keyof PasswordRotationOutputs)[];

/** Only the plugin passes on those of the connection. */
export interface PasswordRotationInputs extends DesiredRotation, Connection {
  readonly databaseId: string;
  /** The resource's full name. */
  readonly owner?: string;
  /** Full names of other resources of the program for the same database. */
  readonly otherOwners?: readonly string[];
}

/** Inputs that decide whether a reset is due. */
export const decidingInputs = ["databaseId", "version", "triggers", "rotateEvery"] as const;

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
  const reason = session.claim(databaseId, owner, otherOwners);
  return reason === undefined ? [] : [{ property: "databaseId", reason, code: "REKEY_DUPLICATE_DATABASE" }];
}

export function diff(saved: PasswordRotationOutputs, inputs: PasswordRotationInputs, session: Session): Difference {
  const isReplaced = saved.databaseId !== inputs.databaseId;
  const plan = planRotation(isReplaced ? undefined : saved, inputs, session.options.now());
  const notice = noticeOf(plan, inputs, session.options.now());
  const isStale = plan.do === "keep" && isOtherAccount(saved.account, session.options.account);
  return {
    changes: plan.do !== "keep",
    ...(isReplaced && { replaces: ["databaseId"] }),
    ...(notice !== undefined && { notice }),
    ...(isStale && { warning: otherAccountWarning(inputs.databaseId) }),
  };
}

/** Creates if nothing is saved, else updates. */
export async function apply(
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  session: Session,
): Promise<Applied<PasswordRotationOutputs>> {
  return carryOut(planRotation(saved, inputs, session.options.now()), saved, inputs, session);
}

/** Carries out the plan for one database, made from the same outputs and inputs. */
export async function carryOut(
  plan: RotationPlan,
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  session: Session,
): Promise<Applied<PasswordRotationOutputs>> {
  switch (plan.do) {
    case "refuse":
      throw new RefusedError(plan.code, inputs.databaseId, plan.why);
    case "adopt":
      return { outputs: adopted(inputs, session) };
    case "keep":
      // Only a saved resource is ever kept.
      return { outputs: saved as PasswordRotationOutputs };
    case "reset": {
      const key = JSON.stringify([inputs.databaseId, canonicalTrigger(inputs)]);
      return session.rotateOnce(key, () => reset(saved, inputs, plan.reason, session));
    }
  }
}

async function reset(
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  rotationReason: RotationReason,
  session: Session,
): Promise<Applied<PasswordRotationOutputs>> {
  const { databaseId } = inputs;
  const { databases } = session.options.platform;
  const undoCount = session.takeReset(databaseId);
  try {
    const { record, credentials, exactIntegers, otherFields, problems } = await databases.resetPassword(
      databaseId,
      formerCredentials(saved),
    );
    const outputs: PasswordRotationOutputs = {
      databaseId,
      record,
      ...credentials,
      exactIntegers,
      ...(otherFields !== undefined && { otherFields }),
      problems,
      outcome: "reset",
      rotatedAt: session.options.now().toISOString(),
      rotationCount: (saved?.rotationCount ?? 0) + 1,
      rotationReason,
      appliedTrigger: appliedMark(saved, inputs),
      ...accountOf(session),
    };
    return problems.length === 0 ? { outputs } : { outputs, notice: problemsNotice(databaseId, problems) };
  } catch (error) {
    if (error instanceof RekeyError && (error.delivery === "not sent" || error.delivery === "rejected")) {
      undoCount();
      throw error;
    }
    return unconfirmed(saved, inputs, error instanceof UnconfirmedError ? error : new InternalError(databaseId, error));
  }
}

function formerCredentials(saved: PasswordRotationOutputs | undefined): string[] {
  const credentials: readonly unknown[] = [saved?.password, saved?.restToken, saved?.readOnlyRestToken];
  return credentials.filter((one) => typeof one === "string");
}

/** A bug around a reset. Only its kind and place are shown: the text of what was thrown may contain credentials. */
export class InternalError extends RekeyError {
  readonly delivery = "maybe applied";

  constructor(databaseId: string, thrown: unknown) {
    const where = thrown instanceof Error ? ` (${thrown.name}${/ at .*/.exec(thrown.stack ?? "")?.[0] ?? ""})` : "";
    super(
      "REKEY_INTERNAL",
      `Could not reset the password of database ${JSON.stringify(databaseId)}: pulumi-rekey failed unexpectedly${where}. The password may have been changed, and the new one is unknown. This is a bug: please report it, then run again.`,
    );
  }
}

function adopted(inputs: PasswordRotationInputs, session: Session): PasswordRotationOutputs {
  return {
    databaseId: inputs.databaseId,
    outcome: "adopted",
    adoptedAt: session.options.now().toISOString(),
    rotationCount: 0,
    appliedTrigger: markTrigger(inputs),
    ...accountOf(session),
  };
}

function accountOf(session: Session): Pick<PasswordRotationOutputs, "account"> {
  const account = session.options.account();
  return account === undefined ? {} : { account };
}

/** It is unknown whether the reset was applied: the former outputs are kept, with `outcome: "unknown"`. */
function unconfirmed(
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  { text, code }: RekeyError,
): Applied<PasswordRotationOutputs> {
  const again = saved?.attemptedTrigger !== undefined && sameTrigger(saved.attemptedTrigger, inputs);
  const unconfirmedResets = (again ? (saved.unconfirmedResets ?? 0) : 0) + 1;
  const outputs: PasswordRotationOutputs = {
    rotationCount: 0,
    ...saved,
    databaseId: inputs.databaseId,
    outcome: "unknown",
    attemptedTrigger: again ? saved.attemptedTrigger : markTrigger(inputs),
    unconfirmedResets,
  };
  const next =
    "The next `up` sends one more reset, which returns new credentials. After three unconfirmed resets in a row it stops and asks for a new version.";
  return { outputs, unconfirmed: withCode(`${text}\n${next}`, code) };
}

/** Removing the trigger does not count as changing it. */
function sameTrigger(mark: string, inputs: PasswordRotationInputs): boolean {
  return isNoTrigger(inputs) || compareTrigger(mark, inputs) === "same";
}

/**
 * A removed trigger stays the applied one, so that restoring it requests nothing. The same holds for one whose reset
 * was not confirmed before it was removed, because this reset replaces that one.
 */
function appliedMark(saved: PasswordRotationOutputs | undefined, inputs: PasswordRotationInputs): string {
  if (!isNoTrigger(inputs)) return markTrigger(inputs);
  const marks = [saved?.attemptedTrigger, saved?.appliedTrigger];
  return marks.find((mark) => mark !== undefined && compareTrigger(mark, {}) !== "same") ?? markTrigger(inputs);
}

/** Announces a reset, and why. A resource with saved outputs is only created to be replaced. */
function noticeOf(
  plan: RotationPlan,
  { databaseId, rotateEvery }: PasswordRotationInputs,
  now: Date,
): string | undefined {
  const password = `The password of database ${JSON.stringify(databaseId)}`;
  if (plan.do === "refuse") return `${password} will not be reset: ${plan.why}.`;
  if (plan.do !== "reset") return undefined;
  switch (plan.reason) {
    case "created":
      return `${password} will be reset: databaseId has changed, so the resource is replaced.`;
    case "trigger":
      return `${password} will be reset: version or triggers have changed.`;
    case "schedule": {
      const late = overdueNotice([plan], String(rotateEvery), now);
      return `${password} is due for a reset: it was last reset at ${plan.since}, and rotateEvery is ${rotateEvery}.${late}`;
    }
    case "unconfirmed":
      return `${password} will be reset once more: the last reset was not confirmed, so its credentials are unknown.`;
  }
}

/** The address and the user name are not shown: a setting may hold a secret, by mistake. */
function otherAccountWarning(databaseId: string): string {
  return `Database ${JSON.stringify(databaseId)} was last reset or adopted with another baseUrl or username, and is not reset now. If they belong to another account, the saved credentials are not those of this database: set a new version, which resets its password.`;
}

function problemsNotice(databaseId: string, problems: readonly string[]): string {
  return `The password of database ${JSON.stringify(databaseId)} was reset, but parts of the platform's response could not be read (see its output problems): ${problems.join("; ")}.`;
}

/**
 * The mark that is saved for an account: `1:` and 48 bits of a hash, because a fleet saves one for each database.
 * Frozen by a test vector: another form would warn of another account after an upgrade.
 */
export function markAccount(baseUrl: string, username: string): string {
  const hash = createHash("sha256").update(JSON.stringify([baseUrl, username]));
  return `1:${hash.digest("base64url").slice(0, 8)}`;
}

/**
 * Whether a saved mark is that of another account. A state of an earlier version has none, and a newer version may have
 * another form: neither is known to be of another account.
 *
 * @param current returns the mark of this run; undefined if its settings are not known
 */
export function isOtherAccount(saved: unknown, current: () => string | undefined): boolean {
  if (typeof saved !== "string" || !saved.startsWith("1:")) return false;
  const mark = current();
  return mark !== undefined && mark !== saved;
}
