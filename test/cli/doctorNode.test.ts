import assert from "node:assert/strict";
import { type Check } from "../../cli/doctor/check";
import { checkNode } from "../../cli/doctor/node";

describe("rekey doctor: Node", () => {
  const versions: Readonly<Record<string, Check["state"]>> = {
    "18.20.8": "wrong",
    "20.0.0": "wrong",
    "20.18.3": "wrong",
    "20.19.0": "ok",
    "20.20.2": "ok",
    "22.1.0": "ok",
    "26.10.0": "ok",
  };
  for (const [version, state] of Object.entries(versions)) {
    it(`finds Node ${version} ${state}`, () => assert.equal(checkNode(version).state, state));
  }

  it("needs the Node that the package says", () => {
    const { engines } = require("pulumi-rekey/package.json") as { engines: { node: string } };
    const [, first = ""] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];
    assert.equal(checkNode(`${first}.0`).state, "ok");
    const [major, minor] = first.split(".").map(Number);
    assert.equal(checkNode(`${major}.${(minor ?? 0) - 1}.9`).state, "wrong");
  });
});
