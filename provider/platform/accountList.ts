import { camelCase, isObject, pathPartProblem } from "../records/fields";
import { credentialsIn, readRecord, sentTwice, tryReadJson } from "../records/response";
import { unusable } from "./failures";
import { type Requester } from "./http";
import { pluralOf, type SecretKind } from "./secretKind";

/** What a list shows of one thing that has a secret: its id, and the fields of the table that are not credentials. */
export interface ListedRecord extends Readonly<Record<string, unknown>> {}

/** Bytes of the largest list that is read, decompressed. */
const maxListBytes = 16 * 1024 * 1024;

/**
 * Lists what has a secret of one kind. It is whole or an error: a program that uses a part of a list for a fleet would
 * drop the other databases. No error shows a value of the list.
 *
 * @throws RequestError
 * @see docs/interface.md#list-what-an-account-has
 */
export async function listAccount(requester: Requester, kind: SecretKind, path: string): Promise<ListedRecord[]> {
  const response = await requester.send({
    method: "GET",
    path,
    maxBytes: maxListBytes,
    purpose: `list the ${pluralOf(kind)}`,
    toCheck: kind.paths ? [] : ["rekey:databaseListPath"],
  });
  if (response.status !== 200) throw unusable(response, "does not have status 200");
  const { listed = {}, id: idField = "id" } = kind.table;
  const json = tryReadJson(response.body);
  // Servers in Go send null for an empty list.
  const sentEntries: unknown = json?.value === null ? [] : json?.value;
  if (!Array.isArray(sentEntries)) throw unusable(response, `is not a list, as JSON, of ${pluralOf(kind)}`);
  const twice = json?.duplicates.map(camelCase).find((name) => Object.hasOwn(listed, name));
  if (twice !== undefined) throw unusable(response, `contains an unreadable entry: ${sentTwice(twice)}`);
  const positions = new Map<string, number>();
  const records = sentEntries.map((sent: unknown, index): ListedRecord => {
    const number = index + 1;
    const unusableEntry = (why: string) =>
      unusable(response, `contains an unreadable entry (number ${number}): ${why}`);
    if (!isObject(sent)) throw unusableEntry("it is not an object");
    // A field that is null is not shown.
    const shown = Object.entries(sent).filter(([, value]) => value !== null);
    const { record, problems, exactIntegers } = readRecord(listed, Object.fromEntries(shown));
    const inexact = Object.keys(exactIntegers).map((name) => `${name}: larger than a number can represent`);
    const [problem] = [...problems, ...inexact];
    if (problem !== undefined) throw unusableEntry(problem);
    const id = record[idField];
    if (typeof id !== "string") throw unusableEntry(`it has no ${idField}`);
    const wrong = pathPartProblem(id);
    if (wrong !== undefined) throw unusableEntry(`its ${idField} ${wrong}`);
    const first = positions.get(id);
    if (first !== undefined) {
      throw unusable(response, `contains the same ${idField} twice (entries ${first} and ${number})`);
    }
    positions.set(id, number);
    return record;
  });
  requester.secrets.add(credentialsIn(sentEntries));
  return records;
}
