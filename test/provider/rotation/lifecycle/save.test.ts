import assert from "node:assert/strict";
import { mock } from "node:test";
import { Encrypter } from "age-encryption";
import { databasePassword, queueToken, signingKeys } from "../../../../provider/domain/secretKind";
import { type Credentials } from "../../../../provider/records/fields";
import { type RotationInputs } from "../../../../provider/rotation/program/program";
import { Team } from "../../../support/age";
import { type Properties } from "../../../support/wire";
import { isLost, type PlatformDoes, resetSecret, RotatedSecret } from "../../../support/rotatedSecret";
import { credentialsOf, tableOf } from "../tables";

/** Credentials of generation n. */
const all = (n: number): Credentials => credentialsOf(`p${n} r${n}`);
const hidden = { saveCredentials: false } as const;

describe("save", () => {
  let team: Team;
  let others: Team;
  /** In which form credentials may be saved. */
  let forms: Readonly<Record<"plain" | "hidden" | "encrypted" | "both" | "forOthers", RotationInputs>>;
  before(async () => {
    [team, others] = [await Team.create(), await Team.create()];
    const [encryptFor, forOthers] = [[team.recipient], [others.recipient]];
    forms = {
      plain: {},
      hidden,
      encrypted: { ...hidden, encryptFor },
      both: { encryptFor },
      forOthers: { ...hidden, encryptFor: forOthers },
    };
  });
  afterEach(() => mock.restoreAll());

  type Form = keyof typeof forms;
  /** A secret that is reset in a form from generation 1 to generation 2. */
  const resetIn = async (form: Form, { showsAfter = all(2) }: PlatformDoes = {}): Promise<RotatedSecret> => {
    const secret = await resetSecret({ version: 1 }, all(1));
    await secret.up({ version: 2, ...forms[form] }, { shows: all(1), showsAfter, responds: all(2) });
    return secret;
  };
  const fileOf = (secret: RotatedSecret) => secret.outputs?.["encryptedCredentials"];

  /** What the response has, and reads show after it, of generation 1 before it. */
  const rows = tableOf(
    ["title", "form", "responds", "after", "saved", "says"],
    `
    all credentials are saved by default             | plain     | p2 r2 | p2 r2 | p2 r2
    none is saved that a read of the run has shown   | hidden    | p2 r2 | p2 r2
    one that no read has shown stays, with a warning | hidden    | p2 r2 | p2    | r2    | is still in the state, as a secret, despite saveCredentials: false \\(restToken\\)
    all stay if no read has shown them               | hidden    | p2 r2 |       | p2 r2 | password, restToken
    one that was not shown before, but after, leaves | hidden    | p2 r1 | p2 r1
    those of a late read are not shown               | hidden    | p2 r2 | p1 r1 | p2 r2 | password, rest
    none is saved that is in the age file            | encrypted | p2 r2
    an age file may be added to what is saved        | both      | p2 r2 | p2 r2 | p2 r2
    `,
  );
  for (const { title, form, responds, after, saved, says } of rows) {
    it(title, async () => {
      const secret = await resetSecret({ version: 1 }, all(1));
      const [showsAfter, response] = [credentialsOf(after), credentialsOf(responds)];
      const desired = { version: 2, ...forms[form as Form] };
      const came = await secret.up(desired, { shows: all(1), showsAfter, responds: response });
      assert.deepEqual([came.code, secret.saved], [undefined, credentialsOf(saved)]);
      assert.match(came.said, says ? new RegExp(says) : /^$/);
      assert.equal(fileOf(secret) !== undefined, desired.encryptFor !== undefined);
      if (!desired.encryptFor) return;
      assert.deepEqual(await team.decrypt(fileOf(secret)), {
        databaseId: "db",
        rotatedAt: secret.state.rotatedAt,
        ...all(2),
      });
    });
  }

  it("a value that stayed leaves once a read shows it", async () => {
    const secret = await resetIn("hidden", { showsAfter: {} });
    await secret.refresh({ shows: { password: "p2" } });
    assert.deepEqual(secret.saved, { restToken: "r2" });
    await secret.refresh({ shows: all(2) });
    assert.deepEqual(secret.saved, {});
  });

  it("another form changes nothing until the next reset, and is announced until then", async () => {
    for (const [from, to] of [
      ["plain", "hidden"],
      ["plain", "encrypted"],
      ["encrypted", "plain"],
      ["encrypted", "forOthers"],
      ["hidden", "both"],
    ] as const) {
      const secret = await resetIn(from);
      const before = secret.outputs;
      const desired = { version: 2, ...forms[to] };
      const says = /take effect with the next rotation\. To remove what is saved now, set a new v/;
      assert.match(secret.preview(desired), says);
      assert.equal((await secret.up(desired, { shows: all(2) })).reads, 0);
      assert.deepEqual(secret.outputs, before, `${from}, ${to}`);
      await secret.up({ ...desired, version: 3 }, { shows: all(2), showsAfter: all(3), responds: all(3) });
      assert.deepEqual(secret.saved, forms[to].saveCredentials === false ? {} : all(3));
      assert.equal(fileOf(secret) !== undefined, forms[to].encryptFor !== undefined);
      assert.equal(secret.preview({ ...desired, version: 3 }), "");
    }
  });

  it("what someone else has changed is saved by a refresh in the form of the last reset", async () => {
    for (const form of ["plain", "hidden", "encrypted"] as const) {
      const secret = await resetIn(form);
      await secret.refresh({ shows: all(7) });
      assert.deepEqual(secret.saved, form === "plain" ? all(7) : {});
      if (form !== "encrypted") assert.equal(fileOf(secret), undefined);
      else assert.equal((await team.decrypt(fileOf(secret)))["password"], "p7");
    }
  });

  it("a lost reset has no other form, but that of a new resource", async () => {
    for (const kind of [databasePassword, signingKeys]) {
      const credentials = kind === signingKeys ? credentialsOf("k1 n2") : all(1);
      const does = { shows: credentials, responds: isLost };
      const secret = new RotatedSecret(kind);
      await secret.up(hidden, does);
      assert.deepEqual(secret.memory.current.form, hidden);
      const saved = await resetSecret({ version: 1 }, credentials, { kind });
      saved.hours = 5;
      await saved.up({ version: 2, ...hidden }, does);
      assert.deepEqual([saved.memory.current.form, saved.saved], [{}, credentials]);
    }
  });

  it("an age file with the same credentials stays the same text", async () => {
    const secret = await resetIn("encrypted");
    const file = fileOf(secret);
    await secret.refresh({ shows: all(2) });
    await secret.up({ version: 2, ...forms.encrypted, rotateEvery: "30d" });
    assert.equal(fileOf(secret), file);
    for (const other of ["p2 r3", "p2 r3 o3"].map(credentialsOf)) {
      await secret.refresh({ shows: other });
      const { databaseId: _, rotatedAt: __, ...credentials } = await team.decrypt(fileOf(secret));
      assert.deepEqual(credentials, other);
    }
  });

  it("makes no age file without credentials", async () => {
    const secret = await resetSecret({ version: 1, ...forms.encrypted }, {});
    assert.equal(fileOf(secret), undefined);
  });

  it("an age file stays as long as it is the only place", async () => {
    for (const form of ["plain", "hidden", "forOthers"] as const) {
      const secret = await resetIn("encrypted");
      const file = fileOf(secret);
      const desired = { version: 3, ...forms[form] };
      await secret.copy().refresh({ shows: {} });
      const part = secret.copy();
      await part.up(desired, { shows: { password: "p2" }, responds: isLost });
      assert.equal(fileOf(part), file, "a read has shown one of two");
      await secret.up(desired, { shows: all(2), responds: isLost });
      assert.equal(fileOf(secret), file, "what is saved keeps its form until another reset is confirmed");
      await secret.refresh({ shows: all(2) });
      assert.equal(fileOf(secret), file, "although a read has shown both");
    }
  });

  it("an age file has the URLs of the program's connection", async () => {
    const record = { endpoint: "db", port: 1, tls: true };
    const secret = await resetSecret({ version: 1, ...forms.encrypted }, all(1), { record });
    const connection = { host: "new.example.com" };
    await secret.up({ version: 2, ...forms.encrypted, connection }, { responds: all(2), record });
    const { connectionUrl } = await team.decrypt(fileOf(secret));
    assert.equal(connectionUrl, secret.outputs?.["connectionUrl"] ?? "rediss://default:p2@new.example.com:1");
    assert.match(connectionUrl as string, /new\.example\.com/);
  });

  it("an age file stays that is the only place of a next key which is the current one now", async () => {
    const secret = new RotatedSecret(signingKeys);
    await secret.up({ version: 1, ...forms.encrypted }, { responds: { currentKey: "k1", nextKey: "k2" } });
    const file = fileOf(secret);
    secret.hours = 5;
    const other = secret.copy();
    await secret.up({ version: 2, ...forms.encrypted }, { responds: { nextKey: "k3" } });
    assert.deepEqual([fileOf(secret), secret.saved], [file, { nextKey: "k3" }]);
    const shown = { shows: { currentKey: "k1" }, showsAfter: { nextKey: "k3" }, responds: { nextKey: "k3" } };
    const { said } = await other.up({ version: 2, ...forms.hidden }, shown);
    assert.deepEqual([fileOf(other), other.saved], [file, {}]);
    assert.match(said, /despite saveCredentials: false \(in encryptedCredentials\)/);
  });

  it("an age file that was damaged or removed does not count as a copy, and is made again by the next reset", async () => {
    for (const damaged of [undefined, "-----BEGIN AGE ENCRYPTED FILE-----"]) {
      const secret = await resetIn("encrypted");
      secret.outputs = JSON.parse(JSON.stringify({ ...secret.outputs, encryptedCredentials: damaged })) as Properties;
      const desired = { version: 2, ...forms.encrypted };
      assert.match(secret.preview(desired), /set a new version/);
      await secret.refresh({ shows: all(2) });
      assert.deepEqual([fileOf(secret), secret.saved], [undefined, {}]);
      await secret.up({ ...desired, version: 3 }, { responds: all(3) });
      assert.equal((await team.decrypt(fileOf(secret)))["password"], "p3");
    }
  });

  it("what a bug has left in the state stays there, although the file has the one before it", async () => {
    const secret = new RotatedSecret(queueToken, undefined, "u");
    const desired = { ...forms.encrypted, overlap: "none" };
    await secret.up({ ...desired, version: 1 }, { responds: { token: "t1" } });
    const parts = { useQueueToken: () => assert.fail("broken") };
    const { code } = await secret.up({ ...desired, version: 2 }, { responds: { token: "t2" }, parts });
    assert.equal(code, "REKEY_INTERNAL");
    await secret.up({ ...desired, version: 3 }, { responds: isLost });
    assert.deepEqual(secret.saved, { token: "t2" });
  });

  it("what cannot be encrypted after a reset is saved as secrets, until a new version, also if the call is repeated", async () => {
    const secret = await resetSecret({ version: 1 }, all(1));
    mock.method(Encrypter.prototype, "encrypt", (text: unknown) =>
      text === "" ? Promise.resolve(new Uint8Array()) : Promise.reject(new Error("broken")),
    );
    const desired = { version: 2, ...forms.encrypted };
    const { code, message = "", sent } = await secret.up(desired, { responds: all(2), calls: 2 });
    assert.deepEqual([code, sent], ["REKEY_NOT_ENCRYPTED", 1]);
    const says =
      /^The password of database "db" could not be encrypted.* in the state, as secrets\..* set a new version/s;
    assert.match(message, says);
    mock.restoreAll();
    const before = secret.outputs;
    assert.deepEqual([secret.saved, fileOf(secret), before?.["outcome"]], [all(2), undefined, "reset"]);
    assert.equal((await secret.up(desired)).code, undefined);
    assert.deepEqual(secret.outputs, before);
    await secret.up({ ...desired, version: 3 }, { responds: all(3) });
    assert.deepEqual(secret.saved, {});
    assert.equal((await team.decrypt(fileOf(secret)))["password"], "p3");
  });

  it("what a refresh has read, and cannot encrypt, is said, and the state is kept", async () => {
    const secret = await resetSecret({ version: 1, encryptFor: [team.recipient] }, all(1));
    const before = secret.outputs;
    mock.method(Encrypter.prototype, "encrypt", () => Promise.reject(new Error("broken")));
    const { said } = await secret.refresh({ shows: all(2) });
    assert.deepEqual(secret.outputs, before);
    assert.match(said, /^was read, but could not be encrypted for encryptFor\..* The saved state is unchanged\./);
  });

  it("recipients that cannot be used are refused before anything is sent", async () => {
    const secret = new RotatedSecret();
    const { code, message = "", sent } = await secret.up({ ...hidden, encryptFor: ["age1damaged"] });
    assert.deepEqual([code, sent, secret.outputs], ["REKEY_NOT_ENCRYPTED", 0, undefined]);
    assert.match(message, /password of database "db" was not rotated.*nothing can be encrypted for one of encryptFor/s);
  });

  it("an import saves no value that a read can show, and the first `up` after it saves in the program's form", async () => {
    for (const form of ["plain", "hidden", "encrypted"] as const) {
      const secret = new RotatedSecret();
      await secret.import({ shows: all(1) });
      assert.deepEqual(secret.saved, {});
      assert.equal((await secret.refresh({ shows: all(1) })).code, undefined);
      assert.deepEqual(secret.saved, {}, "nothing is known of the program yet");
      const desired = { version: 1, initialRotation: false, ...forms[form] };
      await secret.up(desired, { shows: all(2) });
      assert.deepEqual(secret.saved, form === "plain" ? all(2) : {});
      if (form === "encrypted") assert.equal((await team.decrypt(fileOf(secret)))["password"], "p2");
      assert.equal(secret.preview(desired), "");
    }
  });
});
