import { type Credentials, type DatabaseRecord } from "../records/database";
import { type DatabaseResponse } from "../records/response";
import { RefusedError, RekeyError, UnconfirmedError, withCode } from "../platform/errors";
import {
  isOtherAccount,
  planRotation,
  type RotationPlan,
  type RotationReason,
  type DesiredRotation,
  type RotationState,
} from "./planRotation";
import { appliedMark, canonicalTrigger, isSameTrigger, markTrigger } from "./trigger";
import { type Connection } from "./clientEndpoint";
import { type Applied } from "./resource";
import { type Session } from "./session";
import {
  adoptionNotice,
  areDifferent,
  hasCredentials,
  type Notice,
  readFirst,
  readUntilChanged,
  settledNotice,
  unknownNotice,
} from "./reading";

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
  /**
   * The credentials that a read showed before the last reset. They are only saved while the new ones are to be read: a
   * read that shows other ones shows that the reset was applied.
   */
  readonly baseline?: Credentials;
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
  "baseline",
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

/** What was done for one database. */
export interface Executed extends Pick<Applied<PasswordRotationOutputs>, "outputs" | "unconfirmed"> {
  readonly notices: readonly Notice[];
}

/** Executes the plan for one database, made from the same outputs and inputs. */
export async function execute(
  plan: RotationPlan,
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  session: Session,
): Promise<Executed> {
  if (plan.do === "adopt") return adopt(inputs, session);
  if (saved && plan.do === "keep") return isToBeRead(saved, session) ? readNow(saved, session) : keep(saved);
  if (plan.do === "refuse" && !mayBeSettled(plan, saved, session)) {
    throw new RefusedError(plan.code, { databaseId: inputs.databaseId, why: plan.why });
  }
  const key = JSON.stringify([inputs.databaseId, canonicalTrigger(inputs)]);
  return session.rotateOnce(key, () => rotate(plan, saved, inputs, session));
}

export function keep(outputs: PasswordRotationOutputs, ...notices: Notice[]): Executed {
  return { outputs, notices };
}

/** If the platform can be asked, it is read first: an unconfirmed reset may turn out to be applied. */
async function rotate(
  planned: RotationPlan,
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  session: Session,
): Promise<Executed> {
  const { databaseId } = inputs;
  const reserve = () => session.reserveReset(databaseId);
  // A read counts as no reset, so one that may be enough needs none to be left.
  let undoCount = mayBeSettled(planned, saved, session) ? undefined : reserve();
  let isSent = false;
  try {
    const before = session.options.canRead()
      ? await readFirst(databaseId, "reset", session, formerCredentials(saved))
      : undefined;
    const settled = before && saved && settle(saved, before, session);
    const notices = settled ? [settledNotice(databaseId, "the last reset was not confirmed")] : [];
    const plan = settled ? planRotation(settled, inputs, session.options.now()) : planned;
    if (plan.do === "refuse") throw new RefusedError(plan.code, { databaseId, why: plan.why });
    // Only a settled state may need no reset.
    if (plan.do !== "reset") return keep(settled as PasswordRotationOutputs, ...notices);
    undoCount ??= reserve();
    const result = await reset(settled ?? saved, inputs, plan.reason, session, before);
    isSent = true;
    return { ...result, notices: [...notices, ...result.notices] };
  } finally {
    if (!isSent) undoCount?.();
  }
}

/** @throws RekeyError if the password was not changed */
async function reset(
  saved: PasswordRotationOutputs | undefined,
  inputs: PasswordRotationInputs,
  rotationReason: RotationReason,
  session: Session,
  before: DatabaseResponse | undefined,
): Promise<Executed> {
  const { databaseId } = inputs;
  const baseline = before && hasCredentials(before.credentials) ? before.credentials : undefined;
  const confirmed = (response: DatabaseResponse): PasswordRotationOutputs => ({
    databaseId,
    ...responseOutputs(response),
    outcome: "reset",
    rotatedAt: session.options.now().toISOString(),
    rotationCount: (saved?.rotationCount ?? 0) + 1,
    rotationReason,
    appliedTrigger: appliedMark([saved?.attemptedTrigger, saved?.appliedTrigger], inputs),
    ...accountOf(session),
  });
  const secrets = [...formerCredentials(saved), ...Object.values<string>(baseline ?? {})];
  let response: DatabaseResponse;
  try {
    response = await session.options.platform.databases.resetPassword(databaseId, secrets);
  } catch (error) {
    if (error instanceof RekeyError && (error.delivery === "not sent" || error.delivery === "rejected")) throw error;
    const failed = error instanceof UnconfirmedError ? error : new InternalError(databaseId, error);
    const shown = baseline && (await readUntilChanged(databaseId, baseline, session, secrets));
    if (shown?.is !== "changed") return unconfirmed(saved, inputs, failed, baseline, session);
    const happened = error instanceof UnconfirmedError ? error.happened : "its result was lost";
    return keep(confirmed(shown.response), settledNotice(databaseId, happened));
  }
  const outputs = confirmed(response);
  const { problems } = response;
  const notices = problems.length === 0 ? [] : [problemsNotice(databaseId, problems)];
  if (!before || hasCredentials(response.credentials)) return keep(outputs, ...notices);
  const shown = baseline ? await readUntilChanged(databaseId, baseline, session, secrets) : ({ is: "hidden" } as const);
  if (shown.is === "changed") return keep({ ...outputs, ...shown.response.credentials }, ...notices);
  notices.push(unknownNotice(databaseId, shown));
  return keep(shown.is === "hidden" ? outputs : { ...outputs, ...(baseline && { baseline }) }, ...notices);
}

/** The part of a response that is in the saved state. */
export function responseOutputs({ credentials, ...others }: DatabaseResponse) {
  return { ...others, ...credentials };
}

export function formerCredentials(saved: PasswordRotationOutputs | undefined): string[] {
  const credentials: readonly unknown[] = [saved?.password, saved?.restToken, saved?.readOnlyRestToken];
  return [...credentials, ...Object.values(saved?.baseline ?? {})].filter((one) => typeof one === "string");
}

/** Adopts a database without a reset. What a read shows is saved. */
async function adopt(inputs: PasswordRotationInputs, session: Session): Promise<Executed> {
  const { databaseId } = inputs;
  const response = session.options.canRead() ? await readFirst(databaseId, "adopted", session) : undefined;
  const outputs: PasswordRotationOutputs = {
    databaseId,
    ...(response && responseOutputs(response)),
    outcome: "adopted",
    adoptedAt: session.options.now().toISOString(),
    rotationCount: 0,
    appliedTrigger: markTrigger(inputs),
    ...accountOf(session),
  };
  const isHidden = response !== undefined && !hasCredentials(response.credentials);
  return isHidden ? keep(outputs, adoptionNotice(databaseId)) : keep(outputs);
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
  baseline: Credentials | undefined,
  session: Session,
): Executed {
  const again = saved?.attemptedTrigger !== undefined && isSameTrigger(saved.attemptedTrigger, inputs);
  const unconfirmedResets = (again ? (saved.unconfirmedResets ?? 0) : 0) + 1;
  const { baseline: _former, ...former } = saved ?? { rotationCount: 0 };
  const outputs: PasswordRotationOutputs = {
    ...former,
    databaseId: inputs.databaseId,
    outcome: "unknown",
    attemptedTrigger: again ? saved.attemptedTrigger : markTrigger(inputs),
    unconfirmedResets,
    ...(baseline && { baseline, ...accountOf(session) }),
  };
  const next = baseline
    ? "The next `up` reads the database first. If it still shows the former credentials, it sends one more reset"
    : "The next `up` sends one more reset, which returns new credentials";
  const stop = "After three unconfirmed resets in a row it stops and asks for a new version.";
  return { ...keep(outputs), unconfirmed: withCode(`${text}\n${next}. ${stop}`, code) };
}

/** Whether a reset was confirmed, and its credentials are still to be read. */
export function isToBeRead(saved: { readonly outcome: string } & Baseline, session: Session): boolean {
  return saved.outcome === "reset" && isComparable(saved, session);
}

type Baseline = Pick<PasswordRotationOutputs, "baseline" | "account">;

/** Whether a read can be compared with the baseline. The same id may be another database in another account. */
function isComparable({ baseline, account }: Baseline, { options }: Session): boolean {
  return baseline !== undefined && options.canRead() && !isOtherAccount(account, options.account);
}

/** Whether a read may show that an unconfirmed reset was applied. */
export function mayBeSettled(
  plan: RotationPlan,
  saved: PasswordRotationOutputs | undefined,
  session: Session,
): boolean {
  if (plan.do === "refuse" && plan.code !== "REKEY_REPEATEDLY_UNCONFIRMED") return false;
  return saved?.outcome === "unknown" && isComparable(saved, session);
}

/**
 * The outputs of an unconfirmed reset that a read shows to be applied: the credentials are other ones than before it.
 * Its trigger is the applied one. Undefined if the read does not show that.
 */
export function settle(
  saved: PasswordRotationOutputs,
  read: DatabaseResponse,
  session: Session,
): PasswordRotationOutputs | undefined {
  const { outcome, baseline = {} } = saved;
  if (outcome !== "unknown" || !isComparable(saved, session) || !areDifferent(baseline, read.credentials)) {
    return undefined;
  }
  return {
    databaseId: saved.databaseId,
    ...responseOutputs(read),
    outcome: "reset",
    rotatedAt: session.options.now().toISOString(),
    rotationCount: saved.rotationCount + 1,
    appliedTrigger: appliedMark([saved.attemptedTrigger, saved.appliedTrigger], {}),
    ...accountOf(session),
  };
}

/** Reads the credentials of a confirmed reset that were not known. A failed read changes nothing. */
async function readNow(saved: PasswordRotationOutputs, session: Session): Promise<Executed> {
  const { baseline = {}, ...rest } = saved;
  const shown = await readUntilChanged(saved.databaseId, baseline, session, formerCredentials(saved), 0);
  if (shown.is === "changed") return keep({ ...rest, ...responseOutputs(shown.response) });
  return keep(shown.is === "hidden" ? rest : saved, unknownNotice(saved.databaseId, shown));
}

/** A bug around a reset. Only its kind and place are shown: the text of what was thrown may contain credentials. */
export class InternalError extends RekeyError {
  readonly delivery = "maybe applied";

  constructor(databaseId: string, thrown: unknown) {
    const where = thrown instanceof Error ? ` (${thrown.name}${/ at .*/.exec(String(thrown.stack))?.[0] ?? ""})` : "";
    super(
      "REKEY_INTERNAL",
      `Could not reset the password of database ${JSON.stringify(databaseId)}: pulumi-rekey failed unexpectedly${where}. The password may have been changed, and the new one is unknown. This is a bug: please report it, then run again.`,
    );
  }
}

function problemsNotice(databaseId: string, problems: readonly string[]): Notice {
  return {
    kind: "problems",
    text: `The password of database ${JSON.stringify(databaseId)} was reset, but parts of the platform's response could not be read (see its output problems): ${problems.join("; ")}.`,
  };
}
