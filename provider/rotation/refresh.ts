import { isDeepStrictEqual } from "node:util";
import { RekeyError } from "../platform/errors";
import { type DatabaseRecord } from "../records/database";
import { type DatabaseResponse } from "../records/response";
import { credentialNames, firstOf, judge, withFormer } from "./marks";
import {
  driftNotice,
  failedNotice,
  missingNotice,
  type DatabaseNotice,
  otherAccountNotice,
  readNotice,
  settledNotice,
  staleNotice,
  unknownNotice,
  unseenNotice,
} from "./notices";
import { type Result } from "../resource";
import { isOtherAccount } from "./planRotation";
import { type PasswordRotationOutputs } from "./outputs";
import {
  accountOf,
  credentialsIn,
  knownNames,
  marksIn,
  mayBeSettled,
  missingIn,
  recordIn,
  savedKnowledge,
  secretsIn,
  withResponse,
} from "./saved";
import { type Run } from "../run";
import { appliedMark } from "./trigger";

/** What was done for one database. */
export interface DatabaseResult extends Result<PasswordRotationOutputs> {
  readonly notices: readonly DatabaseNotice[];
}

/**
 * Reads a saved database, and returns what to save: what was changed outside of Rekey, and what was not known. It
 * resets nothing and never fails: if the read fails, the saved outputs stay.
 */
export async function refreshDatabase(saved: PasswordRotationOutputs, run: Run): Promise<DatabaseResult> {
  const { databaseId, outcome } = saved;
  try {
    if (!run.options.canRead()) return { outputs: saved, notices: [] };
    // The same id may be another database there.
    if (isOtherAccount(saved.account, run.options.account)) {
      return { outputs: saved, notices: [otherAccountNotice(databaseId)] };
    }
    if (outcome === "unknown" && !mayBeSettled(saved, run)) return { outputs: saved, notices: [] };
    const { platform } = run;
    platform.secrets.add(secretsIn(saved));
    const read = await platform.databases.read(databaseId);
    if (outcome !== "unknown") return withRead(saved, read);
    return settle(saved, read, run, "at the last `up`") ?? { outputs: saved, notices: staleNotices(saved, read) };
  } catch (error) {
    // Only the text of Rekey's own errors is free of secrets.
    return { outputs: saved, notices: [failedNotice(databaseId, error instanceof RekeyError ? error.text : "")] };
  }
}

function staleNotices(saved: PasswordRotationOutputs, { credentials }: DatabaseResponse): DatabaseNotice[] {
  const isStale = judge(marksIn(saved), knownNames(saved), credentials) === "stale";
  return isStale ? [staleNotice(saved.databaseId)] : [];
}

/**
 * The outputs of an unconfirmed reset that a read shows to be applied: the credentials are neither those before it nor
 * former ones. Its trigger is the applied one. Undefined if the read does not show that.
 *
 * @param happened why the reset was not confirmed
 */
export function settle(
  saved: PasswordRotationOutputs,
  read: DatabaseResponse,
  run: Run,
  happened: string,
): DatabaseResult | undefined {
  if (!mayBeSettled(saved, run)) return undefined;
  const { databaseId, rotationCount, attemptedTrigger, appliedTrigger } = saved;
  const known = knownNames(saved);
  const marks = marksIn(saved);
  const before = credentialsIn(saved);
  const { credentials } = read;
  // The saved credentials may be older than the pending one: they prove nothing either.
  const first = firstOf(credentials);
  const isCurrent = judge(marks, known, credentials) === "current" && first && credentials[first] !== before[first];
  if (!isCurrent) return undefined;
  const missing = known.filter((name) => credentials[name] === undefined);
  const outputs: PasswordRotationOutputs = {
    databaseId,
    ...withResponse(recordIn(saved), read),
    ...credentials,
    outcome: "reset",
    rotatedAt: run.options.clock.now().toISOString(),
    rotationCount: rotationCount + 1,
    appliedTrigger: appliedMark([attemptedTrigger, appliedTrigger], {}),
    ...accountOf(run),
    ...savedKnowledge(withFormer(marks, before), missing),
  };
  const notices = missing.length > 0 ? [missingNotice(databaseId, missing)] : [];
  return { outputs, notices: [settledNotice(databaseId, happened), ...notices] };
}

/**
 * The outputs after a read. A stale record changes nothing. Credentials that the platform no longer shows stay, unless
 * they belong to others than those that it shows; what is still missing then counts as not offered.
 */
function withRead(saved: PasswordRotationOutputs, read: DatabaseResponse): DatabaseResult {
  const { databaseId } = saved;
  const known = knownNames(saved);
  const marks = marksIn(saved);
  const verdict = judge(marks, known, read.credentials);
  const isOpen = missingIn(saved).length > 0;
  if (verdict === "stale") {
    const notice = isOpen ? unknownNotice(databaseId, missingIn(saved), { kind: "stale" }) : staleNotice(databaseId);
    return { outputs: saved, notices: [notice] };
  }
  const before = credentialsIn(saved);
  const shown = verdict === "current" ? read.credentials : {};
  const changed = credentialNames.filter((name) => before[name] && shown[name] && before[name] !== shown[name]);
  const first = firstOf(shown);
  const isOther = first !== undefined && before[first] !== shown[first];
  const lost = credentialNames.filter((name) => before[name] !== undefined && read.credentials[name] === undefined);
  const isNew = credentialNames.some((name) => before[name] === undefined && shown[name] !== undefined);
  const drift = [...changed, ...changedFields(saved.record ?? {}, read.record)];
  const notices: DatabaseNotice[] = [];
  if (drift.length > 0) notices.push(driftNotice(databaseId, drift));
  else if (isNew) notices.push(readNotice(databaseId));
  if (isOpen && verdict === "hidden") notices.push(unknownNotice(databaseId, [], { kind: "hidden" }));
  else if (lost.length > 0) notices.push((isOther ? missingNotice : unseenNotice)(databaseId, lost));
  const { password, restToken, readOnlyRestToken, otherFields, missingCredentials, baseline, ...others } = saved;
  const merged = withResponse(recordIn(saved), read);
  if (drift.length === 0 && !isNew && !isOpen && isSame(saved.record, merged.record)) {
    return { outputs: saved, notices };
  }
  // An error may be returned with status 200 and the id of the database: fields that are not known stay.
  const kept = verdict === "hidden" && otherFields !== undefined ? { otherFields } : {};
  const outputs: PasswordRotationOutputs = {
    ...others,
    ...merged,
    ...kept,
    ...(isOther ? {} : before),
    ...shown,
    ...savedKnowledge(marks, isOther ? lost : []),
  };
  return { outputs, notices };
}

/** Fields that both records have, with different values: a response may leave out fields that another one has. */
function changedFields(before: DatabaseRecord, now: DatabaseRecord): string[] {
  const names = Object.keys(before) as (keyof DatabaseRecord)[];
  return names.filter((name) => now[name] !== undefined && !isSame(before[name], now[name]));
}

/** Compares two values as a saved state has them. */
function isSame(saved: unknown, read: unknown): boolean {
  return isDeepStrictEqual(inState({ value: saved }), inState({ value: read }));
}

function inState(values: object): unknown {
  return JSON.parse(JSON.stringify(values));
}
