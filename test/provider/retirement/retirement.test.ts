import assert from "node:assert/strict";
import { hashOf } from "../../../provider/clients/aclReplies";
import { unknownValue } from "../../../provider/pulumi/values";
import { retirement, type RetirementInputs, type RetirementOutputs } from "../../../provider/retirement/retirement";
import { saltedMark } from "../../../provider/rotation/memory/marks";
import { keyOf } from "../../../provider/rotation/program/access";
import { type Run } from "../../../provider/run/run";
import { asShown, FakeRun } from "../../support/fakeRun";
import { FakeAclUsers } from "../rotation/sources/user/fakeAclUsers";
import { insteadOf } from "../rotation/sources/user/redisUser";
import { fieldsIn, tableOf } from "../rotation/tables";

const { check, plan, apply } = asShown(retirement);
const salt = "s".repeat(22);
const marked = (nth: number) => ({ name: "password", username: "app", mark: saltedMark(salt, `p${nth}`) });
const sinceOf = (nth: number) => `2026-01-0${nth + 1}T00:00:00.000Z`;
const hashesOf = (numbers: readonly number[]) => numbers.map((nth) => hashOf(`p${nth}`));
const numbersIn = (cell: string) => cell.split(" ").filter(Boolean).map(Number);

/** `access` of a user with this password, and those that are valid in addition to it. */
function access(nth: number, formers: readonly number[] = [], more: object = {}, validFor = "retirement"): string {
  const all = formers.map((one) => {
    return { retireHash: hashOf(`p${one}`), since: sinceOf(one), validFor, credential: marked(one) };
  });
  return JSON.stringify({
    ...{ id: "app", of: "AclUserRotation", server: "redis.example.com:6379", count: nth, salt },
    current: { ...marked(nth), value: `p${nth}` },
    retire: all.length > 0 ? { formers: all, currentHash: hashOf(`p${nth}`) } : undefined,
    connection: { host: "redis.example.com", port: 6379, tls: true },
    admin: { host: "redis.example.com", port: 6379, password: "admin" },
    ...more,
  });
}

/** What else is so in one run of an engine. */
interface Given {
  /** What is handed over. Default: another value with each `access`. */
  readonly credential?: string | undefined;
  /** What the engine does otherwise. `forced`: it replaces without a Diff. `failed`: something fails after it. */
  readonly engine?: "failed" | "forced" | "deleteBeforeReplace" | undefined;
  /** How long the former ones are valid. */
  readonly validFor?: string | undefined;
  /** None of an adopted user; only a mark, if it is not saved. */
  readonly current?: "adopted" | "unsaved" | undefined;
}

/** `2 + 1`: that of a user with password 2, of which password 1 is valid, too. */
function accessIn(cell: string, { validFor, current, more }: Pick<Given, "validFor" | "current"> & { more: object }) {
  const [nth = 0, ...formers] = numbersIn(cell.replace("+", " "));
  const ofCurrent = { adopted: { current: undefined }, unsaved: { current: marked(nth) } };
  return access(nth, formers, { ...more, ...(current && ofCurrent[current]) }, validFor);
}

/**
 * Runs of an engine, in turn: what each does, with which access, the passwords that are valid then (by default as
 * before), the commands of its deletes, up to which former one it retires, what it plans, and what its deletes say.
 */
const columns = ["does", "access", "given", "valid", "sent", "retires", "plans", "says"] as const;
const atEnd = "the former password, if it is still valid, is retired at the end of this `up`, after every";
const later = "the former password stays valid after this `up`, .*The next `up` retires it at its end";
const each = "each former password that waited for its Retirement was retired\\.$";
const stays = "may stay valid, because this run has not retired it";
const first = "create | 1 | | 1 2";

const scenarios: Readonly<Record<string, string>> = {
  "one that is made while two are valid retires in the next run, and learns it in the one after that": `
    create  | 2 + 1 | | 1 2
    replace | 2 + 1 | | 2 | read remove save | 1 | ${atEnd} | ${each}
    replace | 2     | |   | save
    same    | 2`,
  "a rotation is retired in its own run, and what was handed out before is tried": `
    ${first}
    replace | 2 + 1 | | 2 | read remove save prove | 1 | ${atEnd} | retired; it is refused now\\.$`,
  "what failed is retired once, in the next run that succeeds; all that was handed out is tried": `
    create  | 1       |                | 1 2 3
    replace | 2 + 1   | engine: failed |   |                              | 1
    replace | 3 + 1 2 | engine: failed |   |                              | 2
    replace | 3 + 1 2 |                | 3 | read remove save prove prove | 2 | | ^[^\\n]*${each}`,
  "a forced one retires too, and claims nothing before a read shows it": `
    ${first}
    replace | 2 + 1 | engine: forced | 2 | read remove save prove
    replace | 2     |                |   | save`,
  "of an adopted user, the first rotation is retired by the next run": `
    create  | 1     | current: adopted | 1 2
    replace | 2 + 1 |                  |   |                  |   | ${later} | ${stays}
    replace | 2 + 1 |                  | 2 | read remove save | 1`,
  "with deleteBeforeReplace, it retires nothing": `
    ${first}
    replace | 2 + 1 | engine: deleteBeforeReplace
    replace | 2 + 1 | engine: deleteBeforeReplace | | | | | ${stays}`,
  "what is valid for a time is left to its rotation, also if that was changed since": `
    ${first}
    update  | 2 + 1 | validFor: 24h  | |      |   | stays valid until 2026-01-03T00
    same    | 2 + 1 | validFor: 24h  | |      |   | stays valid until 2026-01-03T00
    replace | 2 + 1 | engine: failed | |      | 1
    replace | 2 + 1 | validFor: 24h  | | save`,
  "what a date has replaced is retired": `
    ${first}
    replace | 2 + 1 | validFor: next up | 2 | read remove save prove | 1`,
  "another rotation of the secret has other marks, so that it is retired one run later": `
    ${first}
    replace | 2 + 1 | salt: other |   |                  |   | ${later}
    replace | 2 + 1 | salt: other | 2 | read remove save | 1`,
  "what another user waits for is not announced of that one": `
    create  | 2 + 1 |       | 1 2
    update  | 3     | id: b |  | | | ^$
    same    | 3     | id: b`,
  "at another address, the user may be another one: no password is sent there": `
    ${first}
    replace | 2 + 1 | connection: { host: other.example.com, port: 6379 } | 2 | read remove save | 1 | | ${each}`,
  "a credential that stays, although the secret has changed, is a warning": `
    create  | 1     | credential: same                 | 1 2
    replace | 2 + 1 | credential: same, engine: failed | | | 1 | hands over what it handed over before, although the password has
    replace | 2 + 1 | credential: same, engine: failed | | | 1 | nothing fails\\.$`,
  "a user whose passwords are not saved is retired by the list": `
    create  | 1     | current: unsaved | 1 2
    replace | 2 + 1 | current: unsaved | 2 | read remove save | 1`,
};

/** Runs of an engine with one Retirement. */
class Runs {
  readonly fake = new FakeRun();
  readonly users = new FakeAclUsers([]);
  saved: RetirementOutputs | undefined;
  replaced: RetirementOutputs[] = [];

  constructor(valid: readonly number[] = [1, 2]) {
    this.users.hashes = hashesOf(valid);
  }

  start(): Run {
    this.users.commands.length = 0;
    return this.fake.start(this.users.parts);
  }

  get valid(): number[] {
    return [1, 2, 3].filter((nth) => this.users.hashes.includes(hashOf(`p${nth}`)));
  }

  /** @returns what was planned, and what the deletes have said */
  async up(given: string, { engine, credential = given }: Given = {}, run = this.start()) {
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

describe("A Retirement", () => {
  for (const [title, text] of Object.entries(scenarios)) {
    it(title, async () => {
      let runs: Runs | undefined;
      for (const [nth, row] of tableOf(columns, text).entries()) {
        const valid = numbersIn(row.valid);
        runs ??= new Runs(valid);
        const expected = valid.length > 0 ? valid : runs.valid;
        const { credential, engine, validFor, current, ...more } = fieldsIn(row.given) as Given;
        const given = accessIn(row.access, { more, validFor, current });
        const { did, planned, said } = await runs.up(given, { credential, engine });
        const found = [did, runs.users.commands.join(" "), runs.valid];
        assert.deepEqual(found, [row.does, row.sent, expected], `${nth}: ${planned} ${said}`);
        assert.match(planned, new RegExp(row.plans));
        assert.match(said, new RegExp(row.says));
        assert.equal(runs.saved?.retires, row.retires === "" ? undefined : sinceOf(Number(row.retires)), `${nth}`);
      }
    });
  }

  /** What a delete meets, of the password before the current one. */
  const failures = tableOf(
    ["title", "meets", "valid", "says"],
    `
    the server does not respond           | read: not sent      | 1 2 | it broke .*Until that is done, the former password may be valid\\. .* the next one tries this again
    the list has neither                  | read: an empty list | 1 2 | The former password of user "app" of \\S+ was not retired: \`ACL GETUSER\` does not list the current one
    the server does not save it           | save: not sent      | 2   | it broke
    the former one is still accepted      | prove: accepted     | 2   | was retired, but is still accepted \\(rediss://redis\\.example\\.com:6379\\)\\. .*VERIFICATION_FAILED
    it cannot be tried                    | prove: untried      | 2   | was retired, but could not be tried: it is busy
    `,
  );
  for (const { title, meets, says, ...row } of failures) {
    it(`is deleted again in the next run: ${title}`, async () => {
      const [runs, valid] = [new Runs(), numbersIn(row.valid)];
      await runs.up(access(1));
      runs.users.instead = insteadOf(meets);
      assert.match((await runs.up(access(2, [1]))).said, new RegExp(says));
      assert.deepEqual([runs.valid, runs.replaced.length], [valid, 1]);
      runs.users.instead = {};
      // The rotation reads before it, and finds what was retired.
      const left = valid.length > 1 ? [1] : [];
      assert.doesNotMatch((await runs.up(access(2, left))).said, /RekeyError/);
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
      for (const one of steps) await runs.up(one, { ...("fails" in more && { engine: "failed" }) });
      const run = runs.start();
      const all = [runs.saved ?? assert.fail(), ...runs.replaced];
      const notices = await Promise.all(all.map(async (one) => (await retirement.remove?.(one, run)) ?? []));
      assert.deepEqual(runs.users.commands, [], title);
      assert.equal(notices.flat().length, knows[0] && knows.length === 1 ? 0 : 1, title);
      const key = keyOf({ of: "AclUserRotation", id: "app", salt });
      assert.deepEqual(run.retirementOf(key).deleted, knows, title);
    }
  });

  it("may be replaced in a preview, as far as the plan of its rotation is known", async () => {
    const runs = new Runs();
    await runs.up(access(1));
    const key = keyOf({ of: "AclUserRotation", id: "app", salt });
    const unknown = { access: unknownValue, credential: "c" };
    const known = { true: new RegExp(atEnd), false: /^$/, undefined: /its Retirement may be replaced, because it is/ };
    for (const waits of [true, false, undefined]) {
      const run = runs.start();
      run.retirementOf(key).waits = waits;
      const { changes, replaces, changing, notice = "" } = plan(runs.saved, unknown, run);
      assert.deepEqual([changes, replaces, changing], [true, waits ? ["access"] : undefined, ["retires"]]);
      assert.match(notice, known[`${waits}`]);
    }
    assert.deepEqual(plan(undefined, unknown), { changes: true, changing: ["retires"] });
  });

  const ofNone = /^access must be that of a QueueTokenRotation or an AclUserRotation\./;
  const problems: Readonly<Record<string, readonly [given: object, problem: RegExp]>> = {
    nothing: [{}, /^access is required/],
    "something else": [{ access: "a" }, /^access must be the output `access` of a QueueTokenRotation or an AclUser/],
    "a fleet": [{ access: "{}" }, ofNone],
    "a secret of which only one is valid": [{ access: access(1, [], { of: "PasswordRotation" }) }, ofNone],
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
