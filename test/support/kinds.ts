import assert from "node:assert/strict";
import { type Platform } from "../../local/platform/index";
import { listSecrets } from "../../provider/doctor/account";
import { type SecretKind } from "../../provider/domain/secretKind";
import { type Credentials } from "../../provider/records/fields";
import { PlatformClient } from "../../provider/run/platformClient";
import { Settings } from "../../provider/settings/settings";
import { databasePath, settingsFor } from "./resources";
import { type Properties } from "./wire";

/** The id of the first secret of a kind that the account of a local platform lists. */
export async function idAt(platform: Platform, kind: SecretKind): Promise<string> {
  const settings = settingsOf(platform);
  const account = await listSecrets(new PlatformClient(settings), settings, []);
  const [first] = account.flatMap((one) => ("id" in one && one.kind === kind ? one.id : []));
  return first ?? assert.fail(`the local platform has no ${kind.noun}`);
}

/** The credentials that a local platform shows now. */
export async function credentialsAt(platform: Platform, kind: SecretKind, id: string): Promise<Credentials> {
  return (await new PlatformClient(settingsOf(platform)).operations(kind).read(id)).credentials;
}

function settingsOf(platform: Platform): Settings {
  const paths = { databasePath, databaseListPath: "/v2/redis/databases" };
  const given: Readonly<Record<string, unknown>> = settingsFor(platform, paths);
  return new Settings((name) => given[name]?.toString(), {});
}

/** The inputs by which a program names the secret of a kind, and rotates it twice in a row. */
export function inputsOf({ idInput, onlyId, shape }: SecretKind, id: string): Properties {
  return {
    ...(onlyId === undefined && { [idInput]: id }),
    ...(shape === "rolls" && { minInterval: "0s" }),
    // Otherwise, the second rotation waits for the first one to be proven.
    ...(shape === "adds" && { overlap: "none" }),
  };
}
