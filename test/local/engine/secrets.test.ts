import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import * as format from "../../../local/engine/format";
import { Crypter, passphraseFrom } from "../../../local/engine/secrets";
import { fixtures, passphrase } from "./project";

const read = (name: string): string => readFileSync(join(fixtures, name), "utf8");
const encrypted = JSON.parse(read("encrypted-stack.json")) as format.ExportedDeployment;
const decrypted = JSON.parse(read("decrypted-stack.json")) as format.ExportedDeployment;
const settings = parse(read("Pulumi.dev.yaml")) as {
  encryptionsalt: string;
  config: Record<string, { secure: string }>;
};

function writtenAgain(crypter: Crypter, showSecrets: boolean): unknown[] {
  const { resources } = format.readDeployment(format.checkExported(encrypted, "the fixture"), crypter);
  return resources.map((resource) => JSON.parse(format.resourceText(resource, crypter, showSecrets)) as unknown);
}

describe("the local engine's secrets", () => {
  it("are read as a real CLI wrote them, and unchanged ones keep their ciphertext", async () => {
    const crypter = await Crypter.open(passphrase, format.saltOf(encrypted) ?? "");
    assert.deepEqual(writtenAgain(crypter, true), decrypted.deployment.resources);
    assert.deepEqual(writtenAgain(crypter, false), encrypted.deployment.resources);
  });

  it("are read from settings as a real CLI wrote them", async () => {
    const crypter = await Crypter.open(passphrase, settings.encryptionsalt);
    assert.equal(crypter.decrypt(settings.config["trace:token"]?.secure ?? ""), "config-s3cret");
  });

  it("are encrypted differently each time, and decrypted unchanged", async () => {
    const crypter = await Crypter.create("a passphrase");
    const again = await Crypter.open("a passphrase", crypter.salt);
    const text = "pass: wörd \u{1F511}";
    const [one, two] = [crypter.encrypt(text), crypter.encrypt(text)];
    assert.notEqual(one, two);
    assert.match(one, /^v1:[\w+/]{16}:[\w+/]+=*$/);
    assert.deepEqual([again.decrypt(one), again.decrypt(two)], [text, text]);
  });

  it("are refused with a wrong passphrase, a changed ciphertext, or a malformed salt", async () => {
    const crypter = await Crypter.create("right");
    await assert.rejects(Crypter.open("wrong", crypter.salt), /incorrect passphrase/);
    await assert.rejects(Crypter.open("right", "v2:abc"), /malformed/);
    const sealed = crypter.encrypt("text");
    const last = sealed.at(-3) === "A" ? "B" : "A";
    assert.throws(() => crypter.decrypt(sealed.slice(0, -3) + last + sealed.slice(-2)));
  });

  it("find their passphrase in the environment, or in the file it names; it may be empty", () => {
    const found = (environment: NodeJS.ProcessEnv) => passphraseFrom(environment, () => "from a file\n");
    assert.equal(found({ PULUMI_CONFIG_PASSPHRASE: "" }), "");
    assert.equal(found({ PULUMI_CONFIG_PASSPHRASE: "x", PULUMI_CONFIG_PASSPHRASE_FILE: "f" }), "x");
    assert.equal(found({ PULUMI_CONFIG_PASSPHRASE_FILE: "f" }), "from a file");
    assert.equal(found({}), undefined);
  });
});
