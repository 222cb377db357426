import { isObject } from "../records/fields";
import { nestedCredentials } from "../records/response";
import { jsonIn, jsonEntries, recordIn, unusable } from "./failures";
import { type Requester } from "./http";
import { pluralOf, type SecretKind, settingOfPath } from "../domain/secretKind";

/** A list's entry for one thing that has a secret: its id, and the fields of the table that are not credentials. */
export interface ListedRecord extends Readonly<Record<string, unknown>> {}

/**
 * Lists what has a secret of one kind. It is whole or an error: a program that uses a part of a list for a fleet would
 * drop the other databases. No error shows a value of the list.
 *
 * @see docs/interface.md#list-what-an-account-has
 */
export async function listAccount(
  requester: Requester,
  kind: SecretKind,
  path: string,
): Promise<ListedRecord[]> {
  const { response, entries } = await listEntries(requester, kind, path);
  const { listed = {}, id: idField = "id" } = kind.table;
  const records = entries.map((sent, index): ListedRecord => {
    const at = `entry ${index + 1}: `;
    // A field that is null is not shown.
    const shown = isObject(sent)
      ? Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null))
      : sent;
    const record = recordIn<typeof listed>(response, listed, shown, at);
    if (record[idField] !== undefined) return record;
    throw unusable(response, `cannot be read (${at}it has no ${idField})`);
  });
  requester.secrets.add(nestedCredentials(entries));
  return records;
}

/** True if a list shows an empty token, as Upstash does for an API key that is read-only. */
export async function showsEmptyToken(
  requester: Requester,
  kind: SecretKind,
  path: string,
): Promise<boolean> {
  const { entries } = await listEntries(requester, kind, path);
  requester.secrets.add(nestedCredentials(entries));
  return entries.some((sent) => isObject(sent) && sent["token"] === "");
}

async function listEntries(requester: Requester, kind: SecretKind, path: string) {
  const response = await requester.send({
    method: "GET",
    path,
    isList: true,
    purpose: `list the ${pluralOf(kind)}`,
    toCheck: settingOfPath(kind.paths?.list),
  });
  return { response, entries: jsonEntries(response, jsonIn(response), pluralOf(kind)) };
}
