import { isNotFound, otherTeam, unreadable } from "./failures";
import { type ApiResponse, type Requester } from "./http";
import { pluralOf, type SecretKind } from "./secretKind";
import { camelCase, isObject, pathPartProblem, readRecord, sentTwice } from "../records/fields";
import { credentialsIn, tryReadJson } from "../records/response";

/** What a list shows of one thing that has a secret: its id, and the fields of the table that are not credentials. */
export interface ListedRecord extends Readonly<Record<string, unknown>> {}

/** A list of an account. */
export interface AccountList {
  readonly path: string;
  /** What to do if there is no such list, or if it cannot be used. */
  readonly advice: string;
}

/** Bytes of the largest list that is read, decompressed. */
const maxListBytes = 16 * 1024 * 1024;

/**
 * Lists what has a secret of one kind. It is whole or an error: a program that uses a part of a list for a fleet would
 * drop the other databases. No error shows a value of the list.
 *
 * @throws RejectedError, UnreadableError, NotSentError or UnconfirmedError
 * @see docs/interface.md#list-what-an-account-has
 */
export async function listAccount(
  requester: Requester,
  kind: SecretKind,
  { path, advice }: AccountList,
): Promise<ListedRecord[]> {
  const response = await send(requester, kind, { path, advice });
  const { listed = {}, id: idField = "id" } = kind.table;
  const unusable = (what: string) => unreadable({ ...response, advice }, what);
  if (response.status !== 200) throw unusable(`has status ${response.status}, and not 200`);
  const json = tryReadJson(response.body);
  // Servers in Go send null for an empty list.
  const sentEntries: unknown = json?.value === null ? [] : json?.value;
  if (!Array.isArray(sentEntries)) throw unusable(`is not a list, as JSON, of ${pluralOf(kind)}`);
  const twice = json?.duplicates.map(camelCase).find((name) => Object.hasOwn(listed, name));
  if (twice !== undefined) throw unusable(`contains an unreadable entry: ${sentTwice(twice)}`);
  const positions = new Map<string, number>();
  const records = sentEntries.map((sent: unknown, index): ListedRecord => {
    const number = index + 1;
    const entry = `contains an unreadable entry (number ${number}):`;
    if (!isObject(sent)) throw unusable(`${entry} it is not an object`);
    const { record, problems, exactIntegers } = readRecord(listed, withoutNulls(sent));
    const [inexact] = Object.keys(exactIntegers);
    const problem = problems[0] ?? (inexact && `${inexact}: larger than a number can represent`);
    if (problem !== undefined) throw unusable(`${entry} ${problem}`);
    const id = record[idField];
    if (typeof id !== "string") throw unusable(`${entry} it has no ${idField}`);
    const wrong = pathPartProblem(id);
    if (wrong !== undefined) throw unusable(`${entry} its ${idField} ${wrong}`);
    const first = positions.get(id);
    if (first !== undefined) throw unusable(`contains the same ${idField} twice (entries ${first} and ${number})`);
    positions.set(id, number);
    return record;
  });
  requester.secrets.add(credentialsIn(sentEntries));
  return records;
}

async function send(requester: Requester, kind: SecretKind, { path, advice }: AccountList): Promise<ApiResponse> {
  try {
    return await requester.send({
      method: "GET",
      path,
      maxBytes: maxListBytes,
      purpose: `list the ${pluralOf(kind)}`,
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const happened = `${error.happened}; it may not have this operation`;
    throw error.explained({ happened, advice: `${advice} ${otherTeam}` });
  }
}

/** A field that is null is not shown. */
function withoutNulls(sent: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
}
