import assert from "node:assert/strict";
import { type Values } from "../../../provider/doctor/overlaps";
import { findDue } from "../../../provider/doctor/due";
import { Folder } from "../../support/folder";
import { runAsync } from "../../support/processes";
import { Fixture, main, stateOf } from "./fixture";

const now = new Date("2026-11-28T12:00:00.000Z");
/** A time so many hours before now. */
const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000).toISOString();
const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:canary" };

/** A resource of an exported state. */
const saved = (type: string, outputs: object, { inputs = {}, ...more }: Readonly<Record<string, unknown>> = {}) => {
  const token = type.includes(":") ? type : `rekey:index:${type}`;
  return {
    urn: `urn:pulumi:dev::app::${token}::a`,
    type: token,
    id: "a",
    inputs,
    outputs: { ...outputs, memory: secret },
    ...more,
  };
};
const user = (outputs: object, more?: Readonly<Record<string, unknown>>) => saved("AclUserRotation", outputs, more);
const exported = (resources: readonly object[]) => JSON.stringify({ version: 4, deployment: { resources } });
const whatOf = (resources: readonly object[], grace = "24h") => {
  const { due } = findDue([{ name: "dev", resources: resources as Values[] }], grace, now);
  return due.map(({ resource, what }) => `${resource} ${what}`);
};
const failed = { initErrors: ["canary-message"] };
const verification = (formerRetiredAt: string) => {
  const { urn } = user({});
  return saved("CredentialVerification", { formerRetiredAt }, { propertyDependencies: { access: [urn] } });
};

const rows: Record<string, { resources: readonly object[]; grace?: string; due: readonly RegExp[] }> = {
  "a rotation that is overdue": {
    resources: [user({ nextRotationAt: ago(25) })],
    due: [/^AclUserRotation "a" was to be rotated at 2026-11-27T11:00:00.000Z$/],
  },
  "one of the dynamic provider, a fleet and a trigger": {
    resources: ["pulumi-nodejs:dynamic/rekey:PasswordRotation", "PasswordRotationFleet", "RotationTrigger"].map(
      (type) => saved(type, { nextRotationAt: ago(25) }),
    ),
    due: [/^PasswordRotation "a" was/, /^PasswordRotationFleet/, /^RotationTrigger "a" was to be rotated/],
  },
  "nothing within the grace": {
    resources: [user({ nextRotationAt: ago(23) }), user({ nextRotationAt: ago(-1) })],
    due: [],
  },
  "what a shorter grace shows": { resources: [user({ nextRotationAt: ago(23) })], grace: "1h", due: [/was to be/] },
  "no resource of another package": {
    resources: [saved("time:index:Rotating", { nextRotationAt: ago(99) }, failed)],
    due: [],
  },
  "two that are valid for longer than overlap": {
    resources: [user({ formerValidSince: ago(73), formerValidUntil: ago(25) }, { inputs: { overlap: "48h" } })],
    due: [/had a second valid one since 2026-11-25T11:00:00.000Z \(overlap: 48h\)$/],
  },
  "two that wait for a verification": {
    resources: [user({ formerValidSince: ago(49) }), user({ formerValidSince: ago(47) })],
    due: [/\(overlap: verified\)$/],
  },
  "not two of which a verification has retired one": {
    resources: [user({ formerValidSince: ago(49) }), verification(ago(24))],
    due: [],
  },
  "a version that waits": {
    resources: [user({ waits: "ten are valid" })],
    due: [/^AclUserRotation "a" waits: ten are valid$/],
  },
  "what is unconfirmed or unproven, also in a fleet": {
    resources: [
      user({ outcome: "unproven" }),
      user({ outcome: "reset" }),
      saved("PasswordRotationFleet", {
        states: { b: { outcome: "unknown" }, c: { outcome: "unknown" }, d: { outcome: "reset" } },
      }),
    ],
    due: [/^AclUserRotation "a" has a rotation that is unproven$/, /^PasswordRotationFleet "a" has .* unconfirmed$/],
  },
  "a failed `up`, without its message": {
    resources: [saved("CredentialVerification", {}, failed)],
    due: [/^CredentialVerification "a" has failed in the last `up`$/],
  },
  "a key that was replaced and is not deleted, once": {
    resources: [
      saved("datadog:index/apiKey:ApiKey", {}, { delete: true }),
      user({ nextRotationAt: ago(99) }, { delete: true }),
    ],
    due: [
      /^datadog:index\/apiKey:ApiKey "a" was replaced, and is not deleted yet$/,
      /^AclUserRotation "a" was replaced/,
    ],
  },
  "a clock that was ahead": {
    resources: [user({ rotatedAt: ago(-1), nextRotationAt: ago(-800) }), user({ rotatedAt: ago(-0.05) })],
    due: [/^AclUserRotation "a" has a time to come as rotatedAt: a clock was ahead$/],
  },
  "a state of another version": {
    resources: [
      user({ nextRotationAt: "soon" }, { inputs: { rotateEvery: "30d" } }),
      user({ next: ago(99) }, { inputs: { rotateEvery: "30d" } }),
      user({ nextRotationAt: secret, outcome: secret, waits: 7, formerValidSince: 7 }),
    ],
    due: [/has no nextRotationAt that can be read/, /has no nextRotationAt that can be read/],
  },
};

describe("pulumi-rekey doctor --due", () => {
  for (const [what, { resources, grace, due }] of Object.entries(rows)) {
    it(`lists ${what}`, () => {
      const found = whatOf(resources, grace);
      assert.equal(found.length, due.length, found.join("\n"));
      for (const [index, says] of due.entries()) assert.match(found[index] ?? "", says);
      assert.doesNotMatch(found.join(), /canary/);
    });
  }

  it("names the state of each, and those that were not read", () => {
    const overdue = [user({ nextRotationAt: ago(25) })];
    const why = "The state of b was not read: it is locked.";
    const states = [
      { name: "a", resources: overdue },
      { name: "b", resources: [], unread: why },
    ];
    const { due, unread } = findDue(states, "24h", now);
    assert.deepEqual([due.map(({ state }) => state), unread], [["a"], [why]]);
  });

  it("runs without a project and settings: 0 if there is nothing, 1 if there is, 2 if a state or an argument is wrong", async () => {
    const folder = new Folder();
    folder.write("none.json", stateOf("app", "app", "AclUserRotation"));
    folder.write("due.json", exported([user({ nextRotationAt: "2026-01-01T00:00:00.000Z" })]));
    const doctor = async (...args: string[]) => {
      const options = { cwd: folder.directory, env: { PATH: "" } };
      const { code, output } = await runAsync(process.execPath, [main, "doctor", "--due", ...args], options);
      return `${code} ${output}`;
    };
    assert.equal(await doctor("--state", "none.json"), "0 Nothing is due.\n");
    const found =
      /^1 DUE {4}AclUserRotation "a" in due\.json was to be rotated at 2026-01-01T00:00:00\.000Z\.\n1 due\.\n$/;
    assert.match(await doctor("--state", "none.json", "--state", "due.json"), found);
    assert.match(await doctor("--state", "due.json", "--json"), /^1 \{\n {2}"due": \[/);
    assert.match(
      await doctor("--state", "due.json", "--state", "gone.json"),
      /^2 error: --state gone\.json cannot be read \(ENOENT\)/,
    );
    assert.match(
      await doctor("--state", "due.json", "--stack", "dev"),
      /^2 [^]*The state of dev was not read: there is no pulumi CLI/,
    );
    for (const wrong of [["--grace", "soon"], ["--since", "2026-01-01"], ["--colour"], []]) {
      assert.match(await doctor(...wrong), /^2 error: /);
    }
    folder.remove();
  });

  if (process.platform === "win32") return;
  it("reads several stacks of a project without an account", async () => {
    const fixture = await Fixture.start({});
    fixture.configure({});
    fixture.bin.write("state-two.json", exported([user({ waits: "soon" })]));
    const { code, output, sent } = await fixture.doctor(["--due", "--stack", "one", "--stack", "two"]);
    assert.deepEqual([code, sent], [1, []]);
    assert.match(output, /^DUE {4}AclUserRotation "a" in two waits: soon\.\n1 due\.$/m);
    assert.equal((await fixture.doctor(["--due"], { SELECTED_STACK: "one" })).code, 0);
    await fixture.stop();
  });
});
