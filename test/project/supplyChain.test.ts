import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(__dirname, "../..");
const read = <T>(file: string): T => JSON.parse(readFileSync(join(root, file), "utf8")) as T;

interface PackageJson {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly publishConfig: { readonly provenance: boolean };
}
interface Lock {
  readonly packages: Record<
    string,
    { version?: string; hasInstallScript?: boolean; link?: boolean; integrity?: string }
  >;
}

/** Packages whose install script does nothing that is needed: it prints a warning about versions. */
const needless = ["node_modules/protobufjs"];

describe("The supply chain", () => {
  const manifest = read<PackageJson>("package.json");
  const { packages } = read<Lock>("package-lock.json");

  it("has exact versions only", () => {
    const { dependencies, devDependencies } = manifest;
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([name, version]) => !/^\d+\.\d+\.\d+$/.test(version) && `${name}@${version}` !== "pulumi-rekey@file:.",
    );
    assert.deepEqual(loose, []);
  });

  it("needs no install script", () => {
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    const paths = scripted.map(([path]) => path);
    assert.deepEqual(
      paths.filter((path) => !needless.includes(path)),
      [],
    );
  });

  it("is locked to what the registry gave, and names no registry", () => {
    const installed = Object.entries(packages).filter(([path, { link }]) => path !== "" && !link);
    assert.ok(installed.length > 100);
    assert.deepEqual(
      installed.filter(([, { integrity }]) => !integrity).map(([path]) => path),
      [],
    );
    assert.doesNotMatch(readFileSync(join(root, "package-lock.json"), "utf8"), /"resolved": "http/);
  });

  it("is published with provenance", () => assert.equal(manifest.publishConfig.provenance, true));
});
