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

/** Packages whose install script only prints a warning about versions. */
const needless = ["node_modules/protobufjs"];

describe("The supply chain", () => {
  const manifests = ["package.json", "local/package.json"].map((path) => read<PackageJson>(path));
  const { packages } = read<Lock>("package-lock.json");

  it("has caret ranges in what users install, so that they get fixes and share copies", () => {
    const ranges = manifests.flatMap(({ dependencies }) => Object.entries(dependencies));
    for (const [name, range] of ranges) assert.match(range, /^\^\d+\.\d+\.\d+$/, name);
  });

  it("has exact versions in what only developers install", () => {
    const versions = manifests.flatMap(({ devDependencies }) => Object.entries(devDependencies));
    const loose = versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    assert.deepEqual(loose, [["pulumi-rekey", "file:."]]);
  });

  it("needs no install script", () => {
    const scripted = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript);
    assert.deepEqual(scripted, needless);
  });

  it("is locked by integrity, and names no registry", () => {
    const installed = Object.entries(packages).filter(([path, { link }]) => !["", "local"].includes(path) && !link);
    assert.ok(installed.length > 100);
    for (const [path, { integrity }] of installed) assert.ok(integrity, path);
    assert.doesNotMatch(readFileSync(join(root, "package-lock.json"), "utf8"), /"resolved": "http/);
  });

  it("is published with provenance", () => assert.ok(manifests.every(({ publishConfig }) => publishConfig.provenance)));
});
