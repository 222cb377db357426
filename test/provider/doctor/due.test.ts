import assert from "node:assert/strict";
import { type Values } from "../../../provider/doctor/overlaps";
import { dueMarkdown, findDue } from "../../../provider/doctor/due";
import { type ExportedState } from "../../../provider/doctor/stackState";
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
const failed = { initErrors: ["canary-message"] };
const waiting = { delete: true };
/** What ends the overlap of `user`. */
const retirement = (retires?: string, more?: Readonly<Record<string, unknown>>) =>
  saved("Retirement", { retires }, { propertyDependencies: { access: [user({}).urn] }, ...more });
const key = (more: Readonly<Record<string, unknown>>) =>
  saved("datadog:index/apiKey:ApiKey", {}, { custom: true, ...more });
const turned = (value: string) => ({ replacementTrigger: { of: [value] } });
const turn = (more: Readonly<Record<string, unknown>> = {}, hours = 25) =>
  saved("RotationTrigger", { value: "20261127-3-1b9d6b", turnedAt: ago(hours) }, more);
const [trigger] = [saved("RotationTrigger", {}).urn];
/** Of a run that has saved something so many hours ago, and has begun to create a key and to update a user. */
const begun = (hours: number) => ({
  savedAt: ago(hours),
  operations: [
    { type: "creating", resource: key({ dependencies: [trigger] }) },
    { type: "updating", resource: user({}) },
    { type: "updating", resource: saved("aws:ec2/instance:Instance", {}) },
  ],
});

interface Row extends Partial<Omit<ExportedState, "resources">> {
  readonly resources?: readonly object[];
  readonly grace?: string;
  readonly due: readonly RegExp[];
}
const rows: Readonly<Record<string, Row>> = {
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
  "two that wait for a Retirement": {
    resources: [user({ formerValidSince: ago(49) }), user({ formerValidSince: ago(47) }), retirement()],
    due: [/\(overlap: retirement\)$/],
  },
  "not two of which a Retirement has retired one at the end of a green `up`": {
    resources: [user({ formerValidSince: ago(72) }), retirement(ago(72))],
    due: [],
  },
  "two that were made after the last retirement": {
    resources: [user({ formerValidSince: ago(49) }), retirement(ago(50))],
    due: [/\(overlap: retirement\)$/],
  },
  "two of which a Retirement still waits for its delete, at once": {
    resources: [user({ formerValidSince: ago(49) }), retirement(ago(49)), retirement(ago(80), waiting)],
    due: [/\(overlap: retirement\)$/, /^Retirement "a" waits for its delete, .*: the former one is still valid$/],
  },
  "a Retirement whose delete does not retire": {
    resources: [{ retainOnDelete: true }, { protect: true }, { pendingReplacement: true }, { protect: false }].map(
      (options) => retirement(ago(1), options),
    ),
    due: [/is saved with retainOnDelete, so that it retires nothing$/, /with protect/, /with pendingReplacement/],
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
    due: [
      /^AclUserRotation "a" also has a secret that was added and is not proven/,
      /^PasswordRotationFleet "a" has .* unconfirmed$/,
    ],
  },
  "a failed `up`, without its message": {
    resources: [saved("CredentialVerification", {}, failed)],
    due: [/^CredentialVerification "a" has failed in the last `up`$/],
  },
  "a key that was replaced and is not deleted, once": {
    resources: [
      key({ ...waiting, ...turned("20261125-2-1b9d6b"), created: ago(72) }),
      key({ ...waiting, dependencies: [trigger], created: ago(48) }),
      key({ ...turned("20261127-4-1b9d6b"), created: ago(24) }),
      user({ nextRotationAt: ago(99) }, waiting),
    ],
    due: [
      /^datadog:index\/apiKey:ApiKey "a" was replaced, and is not deleted yet \(since 2026-11-26T12:00:00.000Z\)$/,
      /^datadog:index\/apiKey:ApiKey "a" was replaced, .* \(since 2026-11-27T12:00:00.000Z\)$/,
      /^AclUserRotation "a" was replaced, and is not deleted yet$/,
    ],
  },
  "a trigger whose turn has not replaced a key": {
    resources: [turn(), key(turned("20261127-3-1b9d6b")), key(turned("20261126-2-1b9d6b")), key({})],
    due: [/^RotationTrigger "a" has turned, but datadog\S+ApiKey "a" was not replaced: run `up`/],
  },
  "a trigger that no key has, as inside a component": {
    resources: [
      turn(),
      key({ ...turned("20261127-3-1b9d6b"), custom: false }),
      key({ ...turned("20261127-3-1b9d6b"), ...waiting }),
      key(turned("20261127-3-ffffff")),
      user({}, { custom: true, dependencies: [trigger] }),
    ],
    due: [/"a" has turned, but no resource of another provider has its value: give replacementTrigger to/, /was repl/],
  },
  "nothing of a trigger that has not turned, has just turned, or is used elsewhere": {
    resources: [
      saved("RotationTrigger", {}),
      turn({}, 23),
      turn({ inputs: { usedElsewhere: true } }),
      turn({ inputs: { byHand: true } }),
    ],
    due: [],
  },
  "nothing of a trigger that an argument depends on": {
    resources: [turn(), key({ dependencies: [trigger] })],
    due: [],
  },
  "nothing that was replaced by something else than a trigger": {
    resources: [key(waiting), key({ ...waiting, replacementTrigger: "v2", dependencies: [user({}).urn] })],
    due: [],
  },
  "what a run that was killed has begun": {
    ...begun(2),
    resources: [retirement(ago(2), waiting)],
    due: [
      /^datadog\S+ApiKey "a" was left "creating" by a run that was killed: .* may be saved nowhere, and clients may be/,
      /^AclUserRotation "a" was left "updating"/,
      /^Retirement "a" waits/,
    ],
  },
  "nothing that a run explains that is under way": {
    ...begun(0.5),
    resources: [retirement(ago(2), waiting), user({ nextRotationAt: ago(25) })],
    due: [/was to be rotated/],
  },
  "what a run has begun, after a shorter grace": { ...begun(0.5), grace: "PT20M", due: [/"creating"/, /"updating"/] },
  "what a run has begun of a state without a time": { ...begun(0.5), savedAt: undefined, due: [/"creat/, /"updat/] },
  "what is gone or not known, also in a fleet": {
    resources: [user({ mustRead: true }), saved("PasswordRotationFleet", { states: { b: { mustRead: true }, c: {} } })],
    due: [/^AclUserRotation "a" is gone or not known, as a read has found/, /^PasswordRotationFleet "a" is gone/],
  },
  "passwords that Rekey does not know": {
    resources: [user({ unknownPasswords: 2 }), user({ unknownPasswords: 0 })],
    due: [/^AclUserRotation "a" also has passwords that Rekey does not know: 2 at the last read$/],
  },
  "a key that a person is to replace, at once": {
    resources: [
      saved("RotationTrigger", { nextRotationAt: ago(0), waits: "a person" }, { inputs: { byHand: true } }),
      saved("RotationTrigger", { nextRotationAt: ago(-1) }, { inputs: { byHand: true } }),
    ],
    due: [/^RotationTrigger "a" was to be rotated/, /^RotationTrigger "a" waits: a person$/],
  },
  "former credentials that a later `up` has tried, and that were accepted": {
    resources: [
      saved("CredentialVerification", { formerRefused: false, formersValid: 1 }),
      saved("CredentialVerification", { formerRefused: false, formersValid: 12 }),
      saved("CredentialVerification", { formersValid: 1 }),
      saved("CredentialVerification", { formerRefused: true, formersValid: 0 }),
    ],
    due: [/has former credentials that are still valid \(1\): delete them at the vendor$/, /valid \(12 or more\)/],
  },
  "what is not verified": {
    resources: [
      saved("CredentialVerification", { verified: false }),
      saved("CredentialVerification", { verified: true }),
    ],
    due: [/^CredentialVerification "a" has not verified it$/],
  },
  "a clock that was ahead": {
    resources: [
      user({ rotatedAt: ago(-1), nextRotationAt: ago(-800) }),
      user({ rotatedAt: ago(-0.05) }),
      user({ nextRotationAt: ago(-49) }, { inputs: { rotateEvery: "2d" } }),
      user({ nextRotationAt: ago(-48) }, { inputs: { rotateEvery: "2d" } }),
    ],
    due: [/^AclUserRotation "a" has a time to come as rotatedAt: a clock was ahead$/, /as nextRotationAt: a clock/],
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
  for (const [what, { resources = [], grace = "24h", due, ...state }] of Object.entries(rows)) {
    it(`lists ${what}`, () => {
      const report = findDue([{ name: "dev", resources: resources as Values[], ...state }], grace, now);
      const found = report.due.map((one) => `${one.resource} ${one.what}`);
      assert.equal(found.length, due.length, found.join("\n"));
      for (const [index, says] of due.entries()) assert.match(found[index] ?? "", says);
      assert.doesNotMatch(found.join(), /canary/);
    });
  }

  it("prints a table of what rotates, for the summary of a job", () => {
    const resources = [
      user(
        { rotatedAt: ago(50), nextRotationAt: ago(-5), formerValidSince: ago(50), formerValidUntil: ago(-1) },
        { inputs: { overlap: "51h" } },
      ),
      { ...user({ adoptedAt: ago(1), formerValidSince: ago(1), waits: "a | b" }), urn: "urn:pulumi:dev::app::x::b" },
      user({ rotatedAt: secret }),
      saved("CredentialVerification", {}),
    ];
    const report = findDue([{ name: "dev", resources }], "24h", now);
    assert.equal(
      dueMarkdown(report),
      [
        "| resource | state | age | next rotation | waits | former one until |",
        "| --- | --- | --- | --- | --- | --- |",
        `| AclUserRotation "a" | dev | 2 d | ${ago(-5)} |  | ${ago(-1)} |`,
        '| AclUserRotation "b" | dev | 0 d |  | a \\| b | retirement |',
        "",
        '- DUE    AclUserRotation "b" in dev waits: a | b.',
        "- 1 due. Resources of Rekey: 4, in states: 1.",
        "",
      ].join("\n"),
    );
  });

  it("names the state of each, and those that were not read", () => {
    const overdue = [user({ nextRotationAt: ago(25) })];
    const why = "The state of b was not read: it is locked.";
    const states = [
      { name: "a", resources: overdue },
      { name: "b", resources: [], unread: why },
    ];
    const { due, unread, empty } = findDue(states, "24h", now);
    assert.deepEqual([due.map(({ state }) => state), unread, empty], [["a"], [why], []]);
  });

  it("runs without a project and settings: 0 if there is nothing, 1 if there is, 2 if a state or an argument is wrong", async () => {
    const folder = new Folder();
    folder.write("none.json", stateOf("app", "app", "AclUserRotation"));
    folder.write("due.json", exported([user({ nextRotationAt: "2026-01-01T00:00:00.000Z" })]));
    const manifest = { time: "2026-01-01T00:00:00.123456789+02:00" };
    const killed = { resources: [], manifest, pending_operations: [{ type: "creating", resource: user({}) }] };
    folder.write("killed.json", JSON.stringify({ version: 4, deployment: killed }));
    const doctor = async (...args: string[]) => {
      const options = { cwd: folder.directory, env: { PATH: "" } };
      const { code, output } = await runAsync(process.execPath, [main, "doctor", "--due", ...args], options);
      return `${code} ${output}`;
    };
    const seen = "Resources of Rekey: 1, in states: 1.\n";
    assert.equal(await doctor("--state", "none.json"), `0 Nothing is due. ${seen}`);
    const found =
      /^1 DUE {4}AclUserRotation "a" in due\.json was to be rotated at 2026-01-01T00:00:00\.000Z\.\n1 due\. Resources of Rekey: 2, in states: 2\.\n$/;
    assert.match(await doctor("--state", "none.json", "--state", "due.json"), found);
    assert.match(
      await doctor("--state", "killed.json"),
      /^1 DUE {4}AclUserRotation "a" in killed\.json was left "creating"/,
    );
    assert.match(await doctor("--state", "due.json", "--json"), /^1 \{\n {2}"due": \[/);
    folder.write("empty.json", exported([saved("aws:ec2/instance:Instance", {})]));
    const empty = await doctor("--state", "empty.json");
    assert.equal(empty, "2 Nothing is due. Resources of Rekey: 0, in states: 1. None in: empty.json.\n");
    assert.match(
      await doctor("--state", "empty.json", "--state", "none.json"),
      /^0 .*: 1, in states: 2\. None in: empty/,
    );
    folder.write("none.txt", "canary");
    assert.match(
      await doctor("--state", "gone.json", "--state", "due.json", "--state", "none.txt"),
      /^2 DUE .*\n--state gone\.json cannot be read \(ENOENT\)\n--state none\.txt is not an exported state: .*\n1 due\. Resources of Rekey: 1, in states: 1\.\n$/,
    );
    assert.match(
      await doctor("--state", "due.json", "--stack", "dev"),
      /^2 [^]*The state of dev was not read: there is no pulumi CLI/,
    );
    for (const wrong of [
      ["--grace", "soon"],
      ["--since", "2026-01-01"],
      ["--markdown", "--coverage"],
      ["--colour"],
      [],
    ]) {
      assert.match(await doctor(...wrong), /^2 error: .*\nRun `pulumi-rekey doctor --help` for the options\.\n$/);
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
    assert.match(output, /^DUE {4}AclUserRotation "a" in two waits: soon\.\n1 due\. Res/m);
    assert.equal((await fixture.doctor(["--due"], { SELECTED_STACK: "one" })).code, 0);
    const file = fixture.project.write("exported.json", exported([user({})]));
    const alone = await fixture.doctor(["--due", "--state", file], { SELECTED_STACK: "two" });
    assert.equal(alone.code, 0, "the selected stack is not read, too");
    await fixture.stop();
  });
});
