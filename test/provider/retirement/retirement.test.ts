import assert from "node:assert/strict";
import { hashOf } from "../../../provider/clients/aclReplies";
import { unknownValue } from "../../../provider/pulumi/values";
import { keyOf } from "../../../provider/rotation/program/access";
import { saltedMark } from "../../../provider/rotation/memory/marks";
import { retirement, type RetirementInputs, type RetirementOutputs } from "../../../provider/retirement/retirement";
import { type Run } from "../../../provider/run/run";
import { FakeAclUsers } from "../rotation/sources/fakeAclUsers";
import { asShown, FakeRun, notSent } from "../../support/fakeRun";

const { check, plan, apply } = asShown(retirement);
const salt = "s".repeat(22);
const admin = { host: "redis.example.com", port: 6379, password: "admin" };
const marked = (nth: number) => ({ name: "password", username: "app", mark: saltedMark(salt, `p${nth}`) });
const sinceOf = (nth: number) => `2026-01-0${nth + 1}T00:00:00.000Z`;

/** `access` of a user with this password, and those that are valid in addition to it. */
function access(nth: number, formers: readonly number[] = [], more: object = {}, validFor = "retirement"): string {
  const all = formers.map((one) => ({
    retireHash: hashOf(`p${one}`),
    since: sinceOf(one),
    validFor,
    credential: marked(one),
  }));
  return JSON.stringify({
    id: "app",
    of: "AclUserRotation",
    server: "redis.example.com:6379",
    count: nth,
    salt,
    current: { ...marked(nth), value: `p${nth}` },
    retire: all.length > 0 ? { formers: all, currentHash: hashOf(`p${nth}`) } : undefined,
    connection: { host: "redis.example.com", port: 6379, tls: true },
    admin,
    ...more,
  });
}

/** One run of an engine. */
interface Step {
  readonly access: string;
  /** What is handed over. Default: another value with each `access`. */
  readonly credential?: string;
  /** What the engine does otherwise. `forced`: it replaces without a Diff. `failed`: something fails after it. */
  readonly engine?: "failed" | "forced" | "deleteBeforeReplace";
  /** What it does; for a delete, what the engine says at its end. */
  readonly does: "create" | "replace" | "update" | "same";
  readonly plans?: RegExp;
  readonly says?: RegExp;
  readonly fails?: RegExp;
  readonly retires?: string;
  /** The passwords that are valid then. Default: as before. */
  readonly valid?: readonly number[];
  /** The commands of its deletes. Default: none. */
  readonly sent?: string;
}

const retiredAtEnd = /the former password, if it is still valid, is retired at the end of this `up`, after every/;
const later = /the former password stays valid after this `up`, .*The next `up` retires it at its end/;
const saves = { sent: "save" } as const;
const adopted = { current: undefined };
const restored = { connection: { host: "other.example.com", port: 6379, tls: true } };

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  "one that is made while two are valid retires in the next run, and learns it in the one after that": [
    { access: access(2, [1]), does: "create", valid: [1, 2] },
    {
      ...{ access: access(2, [1]), does: "replace", plans: retiredAtEnd, retires: sinceOf(1) },
      ...{
        says: /each former password that waited for its Retirement was retired\.$/,
        valid: [2],
        sent: "read remove save",
      },
    },
    { access: access(2), does: "replace", ...saves },
    { access: access(2), does: "same" },
  ],
  "a rotation is retired in its own run, and what was handed out before is tried": [
    { access: access(1), does: "create", valid: [1, 2] },
    {
      ...{ access: access(2, [1]), does: "replace", plans: retiredAtEnd, retires: sinceOf(1) },
      ...{ says: /retired; it is refused now\.$/, valid: [2], sent: "read remove save prove" },
    },
  ],
  "what failed is retired once, in the next run that succeeds; all that was handed out is tried": [
    { access: access(1), does: "create", valid: [1, 2, 3] },
    { access: access(2, [1]), does: "replace", engine: "failed", retires: sinceOf(1) },
    { access: access(3, [1, 2]), does: "replace", engine: "failed", retires: sinceOf(2) },
    {
      ...{ access: access(3, [1, 2]), does: "replace", retires: sinceOf(2), valid: [3] },
      ...{
        says: /^[^\n]*each former password that waited for its Retirement was retired\.$/,
        sent: "read remove save prove prove",
      },
    },
  ],
  "a forced one retires too, and claims nothing before a read shows it": [
    { access: access(1), does: "create", valid: [1, 2] },
    { access: access(2, [1]), does: "replace", engine: "forced", valid: [2], sent: "read remove save prove" },
    { access: access(2), does: "replace", ...saves },
  ],
  "of an adopted user, the first rotation is retired by the next run": [
    { access: access(1, [], adopted), does: "create", valid: [1, 2] },
    {
      access: access(2, [1]),
      does: "replace",
      plans: later,
      says: /may stay valid, because this run has not retired it/,
    },
    { access: access(2, [1]), does: "replace", retires: sinceOf(1), valid: [2], sent: "read remove save" },
  ],
  "with deleteBeforeReplace, it retires nothing": [
    { access: access(1), does: "create", valid: [1, 2] },
    { access: access(2, [1]), does: "replace", engine: "deleteBeforeReplace" },
    {
      access: access(2, [1]),
      does: "replace",
      engine: "deleteBeforeReplace",
      says: /may stay valid, because this run has not/,
    },
  ],
  "what is valid for a time is left to its rotation, also if that was changed since": [
    { access: access(1), does: "create", valid: [1, 2] },
    { access: access(2, [1], {}, "24h"), does: "update", plans: /stays valid until 2026-01-03T00/ },
    { access: access(2, [1], {}, "24h"), does: "same", plans: /stays valid until 2026-01-03T00/ },
    { access: access(2, [1]), does: "replace", engine: "failed", retires: sinceOf(1) },
    { access: access(2, [1], {}, "24h"), does: "replace", ...saves },
  ],
  "what a date has replaced is retired": [
    { access: access(1), does: "create", valid: [1, 2] },
    {
      access: access(2, [1], {}, "next up"),
      does: "replace",
      retires: sinceOf(1),
      valid: [2],
      sent: "read remove save prove",
    },
  ],
  "another rotation of the secret has other marks, so that it is retired one run later": [
    { access: access(1), does: "create", valid: [1, 2] },
    { access: access(2, [1], { salt: "other" }), does: "replace", plans: later },
    {
      access: access(2, [1], { salt: "other" }),
      does: "replace",
      retires: sinceOf(1),
      valid: [2],
      sent: "read remove save",
    },
  ],
  "what another user waits for is not announced of that one": [
    { access: access(2, [1]), does: "create", valid: [1, 2] },
    { access: access(3, [], { id: "b" }), does: "update", plans: /^$/ },
    { access: access(3, [], { id: "b" }), does: "same" },
  ],
  "at another address, the user may be another one: no password is sent there": [
    { access: access(1), does: "create", valid: [1, 2] },
    {
      ...{ access: access(2, [1], restored), does: "replace", retires: sinceOf(1), valid: [2] },
      ...{ says: /each former password that waited for its Retirement was retired\.$/, sent: "read remove save" },
    },
  ],
  "a credential that stays, although the secret has changed, is a warning": [
    { access: access(1), does: "create", credential: "same", valid: [1, 2] },
    {
      ...{ access: access(2, [1]), does: "replace", credential: "same", engine: "failed", retires: sinceOf(1) },
      plans: /hands over what it handed over before, although the password has changed/,
    },
    {
      access: access(2, [1]),
      does: "replace",
      credential: "same",
      engine: "failed",
      plans: /nothing fails\.$/,
      retires: sinceOf(1),
    },
  ],
  "a user whose passwords are not saved is retired by the list": [
    { access: access(1, [], { current: marked(1) }), does: "create", valid: [1, 2] },
    {
      access: access(2, [1], { current: marked(2) }),
      does: "replace",
      retires: sinceOf(1),
      valid: [2],
      sent: "read remove save",
    },
  ],
};

type UpStep = Pick<Step, "access" | "engine" | "credential">;

/** Runs of an engine with one Retirement. */
class Runs {
  readonly fake = new FakeRun();
  readonly users = new FakeAclUsers([]);
  saved: RetirementOutputs | undefined;
  replaced: RetirementOutputs[] = [];

  start(): Run {
    this.users.commands.length = 0;
    return this.fake.start(this.users.parts);
  }

  get valid(): number[] {
    return [1, 2, 3].filter((nth) => this.users.hashes.includes(hashOf(`p${nth}`)));
  }

  /** @returns what was planned, and what the deletes have said */
  async up({ access: given, engine, credential = given }: UpStep, run = this.start()) {
    const { saved } = this;
    const inputs = { access: given, credential };
    const planned = saved && engine !== "forced" ? plan(saved, inputs, run) : undefined;
    const did = !saved ? "create" : !planned || planned.replaces ? "replace" : planned.changes ? "update" : "same";
    const said: string[] = [];
    const end = async () => {
      const deletes = this.replaced.map(async (one) => {
        const notices = (await retirement.remove?.(one, run)) ?? [];
        said.push(...notices.map(({ text }) => text));
        this.replaced = this.replaced.filter((other) => other !== one);
      });
      const failed = (await Promise.allSettled(deletes)).find(({ status }) => status === "rejected");
      if (failed) said.push(String((failed as PromiseRejectedResult).reason));
    };
    if (did === "replace" && saved) this.replaced.push(saved);
    if (engine === "deleteBeforeReplace") await end();
    if (did !== "same") this.saved = (await apply(did === "update" ? saved : undefined, inputs, run)).outputs;
    if (engine !== "failed" && engine !== "deleteBeforeReplace") await end();
    const { notice = "", warning = "" } = planned ?? {};
    return { did, planned: notice + warning, said: said.join("\n") };
  }
}

/** What a delete meets, of the password before the current one. */
const failures: Readonly<
  Record<string, { of?: object; instead: FakeAclUsers["instead"]; fails: RegExp; valid: readonly number[] }>
> = {
  "the server does not respond": {
    ...{ instead: { read: notSent }, valid: [1, 2] },
    fails: /it broke .*Until that is done, the former password may be valid\. .* the next one tries this again/,
  },
  "the list has neither": {
    ...{ instead: { read: () => ({ isOn: true, hasNoPassword: false, hashes: [] }) }, valid: [1, 2] },
    fails: /The former password of user "app" of \S+ was not retired: `ACL GETUSER` does not list the current one/,
  },
  "the server does not save it": { instead: { save: notSent }, fails: /it broke/, valid: [2] },
  "the former one is still accepted": {
    ...{ instead: { prove: () => ({ kind: "accepted" }) }, valid: [2] },
    fails: /was retired, but is still accepted \(rediss:\/\/redis\.example\.com:6379\)\. .*VERIFICATION_FAILED/,
  },
  "it cannot be tried": {
    ...{ instead: { prove: () => ({ kind: "unknown", why: "it is busy" }) }, valid: [2] },
    fails: /was retired, but could not be tried: it is busy/,
  },
};

describe("A Retirement", () => {
  for (const [title, steps] of Object.entries(scenarios)) {
    it(title, async () => {
      const runs = new Runs();
      for (const [nth, step] of steps.entries()) {
        if (nth === 0) runs.users.hashes = (step.valid ?? []).map((one) => hashOf(`p${one}`));
        const before = runs.valid;
        const { did, planned, said } = await runs.up(step);
        const { does, plans, says, sent = "", valid = before } = step;
        const { commands } = runs.users;
        assert.deepEqual([did, commands.join(" "), runs.valid], [does, sent, valid], `${nth}: ${planned} ${said}`);
        if (plans) assert.match(planned, plans);
        if (says) assert.match(said, says);
        assert.equal(runs.saved?.retires, step.retires, `${nth}`);
      }
    });
  }

  for (const [title, { instead, fails, valid }] of Object.entries(failures)) {
    it(`is deleted again in the next run: ${title}`, async () => {
      const runs = new Runs();
      runs.users.hashes = [1, 2].map((nth) => hashOf(`p${nth}`));
      await runs.up({ access: access(1) });
      runs.users.instead = instead;
      assert.match((await runs.up({ access: access(2, [1]) })).said, fails);
      assert.deepEqual([runs.valid, runs.replaced.length], [valid, 1]);
      runs.users.instead = {};
      // The rotation reads before it, and finds what was retired.
      const left = valid.length > 1 ? [1] : [];
      assert.doesNotMatch((await runs.up({ access: access(2, left) })).said, /RekeyError/);
      assert.deepEqual([runs.valid, runs.replaced], [[2], []]);
      assert.ok(runs.users.commands.includes("save") && runs.users.commands.includes("prove"), "again");
    });
  }

  it("retires nothing in a destroy, and tells the rotation only what its run has certainly retired", async () => {
    const cases = {
      "of one whose run was its last": { steps: [access(1), access(2, [1])], knows: [sinceOf(1)] },
      "of one that no run has announced": { steps: [access(2, [1])], knows: [undefined] },
      "of two, of which one waits": { steps: [access(1), access(2, [1])], fails: true, knows: [sinceOf(1), undefined] },
    };
    for (const [title, { steps, knows, ...more }] of Object.entries(cases)) {
      const runs = new Runs();
      runs.users.hashes = [1, 2].map((nth) => hashOf(`p${nth}`));
      for (const one of steps) await runs.up({ access: one, ...("fails" in more && { engine: "failed" }) });
      const run = runs.start();
      const all = [runs.saved ?? assert.fail(), ...runs.replaced];
      const notices = await Promise.all(all.map(async (one) => (await retirement.remove?.(one, run)) ?? []));
      assert.deepEqual(runs.users.commands, [], title);
      assert.equal(notices.flat().length, knows[0] && knows.length === 1 ? 0 : 1, title);
      const { of, id } = { of: "AclUserRotation", id: "app" } as const;
      assert.deepEqual(run.retirementOf(keyOf({ of, id, salt })).deleted, knows, title);
    }
  });

  it("may be replaced in a preview, as far as the plan of its rotation is known", async () => {
    const runs = new Runs();
    await runs.up({ access: access(1) });
    const key = keyOf({ of: "AclUserRotation", id: "app", salt });
    const unknown = { access: unknownValue, credential: "c" };
    const known = { true: retiredAtEnd, false: /^$/, undefined: /its Retirement may be replaced, because it is not/ };
    for (const waits of [true, false, undefined]) {
      const run = runs.start();
      run.retirementOf(key).waits = waits;
      const { changes, replaces, changing, notice = "" } = plan(runs.saved, unknown, run);
      assert.deepEqual(
        { changes, replaces, changing },
        { changes: true, replaces: waits ? ["access"] : undefined, changing: ["retires"] },
      );
      assert.match(notice, known[`${waits}`]);
    }
    assert.deepEqual(plan(undefined, unknown), { changes: true, changing: ["retires"] });
  });

  const problems: Readonly<Record<string, readonly [given: object, problem: RegExp]>> = {
    nothing: [{}, /^access is required/],
    "something else": [{ access: "a" }, /^access must be the output `access` of a QueueTokenRotation or an AclUser/],
    "a fleet": [{ access: "{}" }, /^access must be that of a QueueTokenRotation or an AclUserRotation\./],
    "a secret of which only one is valid": [
      { access: JSON.stringify({ id: "db", of: "PasswordRotation", count: 1, salt }) },
      /^access must be that of a QueueTokenRotation or an AclUserRotation\./,
    ],
    "what is right": [{ access: access(1), credential: { a: "b" } }, /^$/],
    "what is not known yet": [{ access: unknownValue, credential: { a: unknownValue } }, /^$/],
  };
  for (const [title, [given, problem]] of Object.entries(problems)) {
    it(`checks its arguments: ${title}`, () => assert.match(check(given as RetirementInputs).join(), problem));
  }

  it("refuses a credential that is not known", () => {
    for (const credential of [null, "", 7, [], {}, { a: "b", c: null }, { a: "" }, { a: { b: "c" } }]) {
      const [problem = ""] = check({ access: access(1), credential } as RetirementInputs);
      assert.match(problem, /^credential must be a text, or a map of texts, none of which is empty or undefined\./);
    }
  });
});
