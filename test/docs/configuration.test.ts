import assert from "node:assert/strict";
import { environmentName, isSecret, nameOf, settingDefaults, settingNames } from "../../provider/settings/settings";
import { readPage } from "./page";

describe("docs/configuration.md", () => {
  it("has each setting with its environment variable, its default, and whether it is secret", () => {
    const rows = [...readPage("docs/configuration.md").text.matchAll(/^\| `(rekey:\w+)`(.*)$/gm)].map(
      ([, name, rest = ""]) => {
        const [environment, meaning = "", byDefault] = rest
          .split("|")
          .slice(1)
          .map((cell) => cell.trim());
        return { name, environment, secret: meaning.includes("Secret"), byDefault };
      },
    );
    const defaults: Readonly<Record<string, unknown>> = settingDefaults;
    const expected = settingNames.map((name) => ({
      name: nameOf(name),
      environment: `\`${environmentName(name)}\``,
      secret: isSecret(name),
      byDefault: name in defaults ? `\`${String(defaults[name])}\`` : "none",
    }));
    assert.deepEqual(rows, expected);
  });
});
