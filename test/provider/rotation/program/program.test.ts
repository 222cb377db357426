import assert from "node:assert/strict";
import { databasePassword, queueToken, type SecretKind } from "../../../../provider/domain/secretKind";
import { unknownValue } from "../../../../provider/pulumi/values";
import { contextOf } from "../../../../provider/rotation/program/context";
import { readProgram, savedProgram } from "../../../../provider/rotation/program/program";
import { FakeRun } from "../../../support/fakeRun";

describe("program: what is read of the inputs, and of the settings", () => {
  it("is without what is not set, recipients once, and what is not known apart", () => {
    const connection = { host: "h", port: null };
    const inputs = { encryptFor: ["b", "a", "b"], saveCredentials: true, connection, rotateEvery: null };
    const program = readProgram(inputs, databasePassword);
    assert.deepEqual(program.form, { encryptFor: ["a", "b"] });
    const saved = { connection: { host: "h" }, queueUrl: undefined, rotateEvery: undefined, admin: undefined };
    assert.deepEqual(savedProgram(program, { salt: "salt" }), saved);
    assert.equal(readProgram({ connection: { host: null } }, databasePassword).connection, undefined);
    const [version, overlap, rotatedSince] = [unknownValue, unknownValue, unknownValue];
    const { unknown, trigger, ...others } = readProgram({ version, overlap, rotatedSince }, queueToken);
    assert.deepEqual([[...unknown], trigger], [["version", "overlap", "rotatedSince"], ""]);
    assert.deepEqual([others.overlap, others.rotatedSince], ["retirement", undefined]);
  });

  it("has Rekey's own token, unless each process reads it", () => {
    const ownToken = (kind: SecretKind, settings: FakeRun["settings"]) =>
      contextOf(kind, Object.assign(new FakeRun(), { settings }).start()).ownToken;
    assert.equal(ownToken(queueToken, { queueToken: "own", queueUserId: undefined }), "own");
    assert.equal(ownToken(queueToken, { queueToken: "own", queueUserId: "user" }), undefined);
    assert.equal(ownToken(queueToken, { queueUserId: undefined }), undefined);
    assert.equal(ownToken(databasePassword, { queueToken: "own", queueUserId: undefined }), undefined);
  });
});
