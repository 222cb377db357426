import assert from "node:assert/strict";
import { environmentName, nameOf, settingNames, settingOf } from "../../provider/settings/table";
import { readPage } from "./page";

describe("docs/configuration.md", () => {
  it("has the table of settings; if this fails, run `npm run schema`", () => {
    const rows = [...readPage("docs/configuration.md").text.matchAll(/^\| (`rekey:.*) \|$/gm)].map(([, row = ""]) =>
      row.split("|").map((cell) => cell.trim()),
    );
    const expected = settingNames.map((name) => {
      const { description, default: value } = settingOf(name);
      return [`\`${nameOf(name)}\``, `\`${environmentName(name)}\``, description, value ? `\`${value}\`` : "none"];
    });
    assert.deepEqual(rows, expected);
  });
});
