import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type VectorTokenRotation } from "pulumi-rekey";
import { Team } from "../support/age";
import { databasePassword, kindsOfAccount, type SecretKind } from "../../provider/domain/secretKind";
import { type Credentials } from "../../provider/records/fields";
import { leaksOf } from "../support/canaries";
import { EngineStack, onEngineByAdapter, type Rekey, type Result, succeeds, valuesOf } from "./engineStack";
import { textsBelow } from "../support/files";
import { Folder } from "../support/folder";
import { credentialsAt, idAt, inputsOf } from "../support/kinds";
import { databasePath } from "../support/resources";
import { until } from "../support/results";

const queueUserId = "00000000-0000-4000-8000-000000000001";
/** The fleet has the second and the third one. */
const databases = ["db-single", "db-a", "db-b"];
const resets = /reset-password|rotate/;
/** The queue's token is rotated while the keys are rolled with it. */
const keepToken = { path: /rotate-token/, keepFormerPassword: true };

const members = { a: "db-a", b: "db-b" };

/** Declares each kind of secret of an account, and a fleet. Its outputs are what is encrypted of them. */
function declareEverySecret(
  rekey: Rekey,
  ids: ReadonlyMap<SecretKind, string>,
  all: { version: number; saveCredentials: false; encryptFor: string[] },
) {
  const rotations = [...ids].map(([kind, id]) => {
    const Class = rekey[kind.name] as unknown as new (name: string, args: object) => VectorTokenRotation;
    return [kind.name, new Class(kind.name, { ...inputsOf(kind, id), ...all })] as const;
  });
  const fleet = new rekey.PasswordRotationFleet("fleet", { databases: members, ...all });
  const { access } = Object.fromEntries(rotations)[databasePassword.name] ?? assert.fail();
  new rekey.CredentialVerification("proof", { access });
  return Object.fromEntries(
    [...rotations, ["fleet", fleet] as const].map(([name, one]) => [name, one.encryptedCredentials]),
  );
}

onEngineByAdapter("Credentials that are not saved", (adapter) => {
  it("are nowhere but in files that can be decrypted, not even after a kill of the engine", async () => {
    const team = await Team.create();
    let version = 1;
    const issued: Record<string, string> = {};
    const ids = new Map<SecretKind, string>();
    /** What the platform has, by the names of the outputs. */
    const credentials = async (): Promise<Record<string, Credentials>> => {
      const all = [
        ...[...ids].map(([kind, id]) => [kind.name, kind, id] as const),
        ...Object.entries(members).map(([name, id]) => [name, databasePassword, id] as const),
      ];
      const shown = all.map(async ([name, kind, id]) => [name, await credentialsAt(platform, kind, id)] as const);
      return Object.fromEntries(await Promise.all(shown));
    };
    const note = async (): Promise<void> => {
      for (const value of Object.values(await credentials()).flatMap((one) =>
        Object.values(one as Record<string, string>),
      )) {
        issued[value] = value;
      }
    };
    const logs = new Folder();
    const log = logs.path("grpc.json");
    const stack = await EngineStack.start(
      (rekey) => declareEverySecret(rekey, ids, { version, saveCredentials: false, encryptFor: [team.recipient] }),
      {
        adapter,
        platform: { databases, credentials: "always", databasePath },
        config: { "rekey:databasePath": databasePath, "rekey:queueUserId": queueUserId, "rekey:queueToken": undefined },
        environment: { PULUMI_DEBUG_GRPC: log },
      },
    );
    const { platform } = stack;
    for (const kind of kindsOfAccount) ids.set(kind, await idAt(platform, kind));
    const count = Object.keys(await credentials()).length;
    await note();
    const seen: string[] = [];

    const assertDecrypted = async (result: Result): Promise<void> => {
      const { fleet, ...files } = valuesOf(result);
      const all = await credentials();
      for (const [name, file] of Object.entries({ ...files, ...(fleet as object) })) {
        const decrypted = await team.decrypt(file);
        for (const [field, value] of Object.entries(all[name] ?? assert.fail(name))) {
          assert.equal(decrypted[field], value, `${field} of ${name}`);
        }
      }
      await note();
      seen.push(result.printed, JSON.stringify(await stack.saved()));
    };

    platform.failNext(keepToken);
    await assertDecrypted(await succeeds(stack.up()));
    assert.equal(platform.resetCount, count);
    const { changes } = await succeeds(stack.up({ refresh: true }));
    assert.deepEqual(Object.keys(changes), ["same"], "what is read changes nothing");

    version = 2;
    platform.failNext({ ...keepToken, delayMs: 2_000 });
    platform.failNext({ method: "POST", path: resets, delayMs: 2_000, times: count - 1 });
    const killed = stack.up();
    await until(
      () => platform.requests.filter(({ path, method }) => method === "POST" && resets.test(path)).length === 2 * count,
    );
    stack.kill("both");
    seen.push((await killed).printed);
    await until(() => platform.resetCount === 2 * count);
    await note();
    await stack.unlock();
    seen.push((await succeeds(stack.refresh())).printed);
    platform.failNext(keepToken);
    await assertDecrypted(await succeeds(stack.up()));
    assert.equal(platform.resetCount, 3 * count);

    const shown = [...seen, readFileSync(log, "utf8"), ...textsBelow(stack.directory)].join("\n").split("\n");
    logs.remove();
    assert.deepEqual(leaksOf([...new Set(shown)].join("\n"), issued), []);
  });
});
