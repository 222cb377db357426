import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorCodes } from "../../provider/domain/errors";
import { oldestPulumi } from "../../provider/engine/installedPackage";
import { environmentName, settingNames } from "../../provider/settings/table";
import manifest from "../../package.json";
import { projectRoot } from "../support/host";
import { sourcesIn } from "../support/files";
import { anchors, type Page, pages, prose, readPage, registryPages } from "./page";

const all = [
  ...pages,
  ...["CONTRIBUTING.md", "CHANGELOG.md", ".github/SECURITY.md", "templates/README.md", ...registryPages].map(readPage),
];

function linksOf(page: Page): string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

/** Path of a link's file from the project's folder, and the anchor in it. */
function resolve(page: Page, link: string): { path: string; anchor: string | undefined } {
  const [file = "", anchor] = link.split("#");
  return { path: file === "" ? page.path : join(dirname(page.path), file), anchor };
}

describe("README and docs/", () => {
  it("have no link to a missing file or heading", () => {
    const broken = all.flatMap((page) =>
      linksOf(page)
        .filter((link) => !/^\w+:/.test(link))
        .filter((link) => {
          const { path, anchor } = resolve(page, link);
          if (!existsSync(join(projectRoot, path))) return true;
          return anchor !== undefined && path.endsWith(".md") && !anchors(readPage(path)).includes(anchor);
        })
        .map((link) => `${page.path}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });

  it("name only error codes and variables that exist, and docs/errors.md each code", () => {
    const known = [
      ...errorCodes,
      ...settingNames.map(environmentName),
      "REKEY_SEED",
      "REKEY_ALLOW_SKIPS",
      "REKEY_REDIS",
    ];
    const unknown = all.flatMap(({ path, text }) =>
      [...text.matchAll(/\bREKEY_[A-Z_]*[A-Z]\b/g)]
        .map(([name]) => name)
        .filter((name) => !known.includes(name))
        .map((name) => `${path}: ${name}`),
    );
    assert.deepEqual(unknown, []);
    const { text } = readPage("docs/errors.md");
    assert.deepEqual(
      errorCodes.filter((code) => !text.includes(code)),
      [],
    );
  });

  it("name the oldest versions of Node and the SDK in README, with those of the CLI", () => {
    const [line = ""] = /^You need the `pulumi` CLI[^]*?\n\n/m.exec(readPage("README.md").text) ?? [];
    for (const part of ["20.19", "22.12", oldestPulumi.replace(/\.0$/, ""), "CLI"]) {
      assert.ok(line.includes(part), `${part}: ${line}`);
    }
  });

  it("name each option of the local platform and of its faults", () => {
    const { text } = readPage("docs/local/platform.md");
    const optionsOf = (file: string, name: string) => {
      const source = readFileSync(join(projectRoot, "local/platform", file), "utf8");
      const [, body = ""] = new RegExp(`^export interface ${name} \\{([^]*?)^\\}`, "m").exec(source) ?? [];
      return [...body.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, option = ""]) => option);
    };
    const options = [...optionsOf("options.ts", "PlatformOptions"), ...optionsOf("fault.ts", "Fault")];
    assert.ok(options.length > 20, String(options));
    assert.deepEqual(
      options.filter((option) => !text.includes(`\`${option}\``)),
      [],
    );
  });

  it("install from vendor/, not what anyone could publish under the name of this project", () => {
    // With the first release, `repository` is set, and the line in README changes (CONTRIBUTING.md, Release).
    if ("repository" in manifest) return;
    const messages = sourcesIn("provider", "sdk", "local").map((path) => readFileSync(join(projectRoot, path), "utf8"));
    const install = /npm (install|i)\b.*(?<![-/@\w.])(pulumi-rekey|rekey-local)(?![-\w/])/;
    const texts = [...pages.map(({ text }) => text), ...messages];
    const found = texts.flatMap((text) => text.split("\n").filter((line) => install.test(line)));
    assert.deepEqual(found, []);
  });
});
