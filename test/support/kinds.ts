import assert from "node:assert/strict";
import { type Platform } from "../../local/platform/index";
import { listAccount } from "../../provider/doctor/account";
import { type SecretKind } from "../../provider/domain/secretKind";
import { PlatformClient } from "../../provider/run/platformClient";
import { Settings } from "../../provider/settings/settings";
import { settingsFor } from "./resources";
import { type Properties } from "./wire";

/** The id of the first secret of a kind that the account of a local platform lists. */
export async function idAt(platform: Platform, kind: SecretKind): Promise<string> {
  const given: Readonly<Record<string, unknown>> = settingsFor(platform, { databaseListPath: "/v2/redis/databases" });
  const settings = new Settings((name) => given[name]?.toString(), {});
  const account = await listAccount(new PlatformClient(settings), settings, []);
  const [first] = account.flatMap((one) => ("id" in one && one.kind === kind ? one.id : []));
  return first ?? assert.fail(`the local platform has no ${kind.noun}`);
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
