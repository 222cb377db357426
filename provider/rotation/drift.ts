import { isDeepStrictEqual } from "node:util";
import { RekeyError } from "../platform/errors";
import { type Credentials, type DatabaseRecord } from "../records/database";
import { type DatabaseResponse } from "../records/response";
import {
  type Executed,
  formerCredentials,
  keep,
  type PasswordRotationOutputs,
  responseOutputs,
  settle,
} from "./execute";
import { isOtherAccount } from "./planRotation";
import { areDifferent, changedCredentials, hasCredentials, type Notice, settledNotice, unknownNotice } from "./reading";
import { type Session } from "./session";

/**
 * Reads a saved database, and returns what to save: what was changed outside of Rekey, and what was not known. It
 * resets nothing and never fails: if the read fails, the saved outputs stay.
 */
export async function refreshDatabase(saved: PasswordRotationOutputs, session: Session): Promise<Executed> {
  const { databaseId, outcome, baseline } = saved;
  try {
    if (!session.options.canRead() || (outcome === "unknown" && !baseline)) return keep(saved);
    // The same id may be another database there.
    if (isOtherAccount(saved.account, session.options.account)) return keep(saved, otherAccountNotice(databaseId));
    const read = await session.options.platform.databases.read(databaseId, { secrets: formerCredentials(saved) });
    if (outcome !== "unknown") return withDrift(saved, read);
    const settled = settle(saved, read, session);
    return settled ? keep(settled, settledNotice(databaseId, "at the last `up`")) : keep(saved);
  } catch (error) {
    return keep(saved, failedNotice(databaseId, error));
  }
}

/** Credentials that the platform no longer shows stay saved. The former ones are never saved after a reset. */
function withDrift(saved: PasswordRotationOutputs, read: DatabaseResponse): Executed {
  const { databaseId, baseline } = saved;
  const isHidden = !hasCredentials(read.credentials);
  if (baseline && !isHidden && !areDifferent(baseline, read.credentials)) {
    return keep(saved, unknownNotice(databaseId, { is: "unchanged" }));
  }
  const notices = isHidden ? [hiddenNotice(databaseId)] : [];
  const names = Object.keys(read.credentials) as (keyof Credentials)[];
  const isNew = names.some((name) => saved[name] === undefined);
  const changed = [...changedCredentials(saved, read.credentials), ...changedFields(saved.record ?? {}, read.record)];
  if (changed.length > 0) notices.push(driftNotice(databaseId, changed));
  else if (isNew) notices.push(readNotice(databaseId));
  else if (isSame(saved.record, read.record)) return keep(saved, ...notices);
  const { otherFields, baseline: formerBaseline, ...known } = saved;
  const { password, restToken, readOnlyRestToken, ...others } = known;
  const kept = areDifferent(saved, read.credentials) ? others : known;
  const open = isHidden && formerBaseline ? { baseline: formerBaseline } : {};
  return keep({ ...kept, ...open, ...responseOutputs(read) }, ...notices);
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

function driftNotice(databaseId: string, changed: readonly string[]): Notice {
  const text = `Database ${JSON.stringify(databaseId)} was changed outside of Rekey: ${changed.join(", ")}. What was read is saved; nothing was reset.`;
  return { kind: "drift", text };
}

function readNotice(databaseId: string): Notice {
  return { kind: "drift", text: `The credentials of database ${JSON.stringify(databaseId)} were read and are saved.` };
}

function hiddenNotice(databaseId: string): Notice {
  const text = `The platform does not show the credentials of database ${JSON.stringify(databaseId)}: the saved ones stay, and a change outside of Rekey cannot be seen.`;
  return { kind: "hidden", text };
}

function otherAccountNotice(databaseId: string): Notice {
  const text = `Database ${JSON.stringify(databaseId)} was last reset or adopted with another baseUrl or username, so it was not read. The saved state stays.`;
  return { kind: "failed", text };
}

/** Only the text of Rekey's own errors is free of secrets. */
function failedNotice(databaseId: string, error: unknown): Notice {
  const why = error instanceof RekeyError ? error.text : `Could not read database ${JSON.stringify(databaseId)}.`;
  return { kind: "failed", text: `${why} The saved state stays.` };
}
