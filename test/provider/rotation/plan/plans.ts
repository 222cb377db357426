import assert from "node:assert/strict";
import {
  aclUser,
  databasePassword,
  queueToken,
  type SecretKind,
  signingKeys,
} from "../../../../provider/domain/secretKind";
import { saltedMark, triggerMark } from "../../../../provider/rotation/memory/marks";
import { type Attempt, emptyMemory, type Former, type Memory } from "../../../../provider/rotation/memory/memory";
import { planRotation } from "../../../../provider/rotation/plan/planRotation";
import { type Context, type Plan } from "../../../../provider/rotation/program/plan";
import { readProgram, type RotationInputs, savedProgram } from "../../../../provider/rotation/program/program";
import { timeAt } from "../../../support/rotatedSecret";
import { fieldsIn, type Row, sectionsOf, tableOf } from "../tables";

/**
 * One plan. The secret was rotated at hour 0 for version 1; the cell has its kind, and what else is known of it. The
 * program has version 1, and the inputs of the cell. `given` is what else is so: see `Given`.
 */
const columns = ["title", "secret", "inputs", "given", "plan", "why"] as const;
type Cells = Row<(typeof columns)[number]>;

export interface PlanRow extends Pick<Cells, "title" | "secret" | "plan" | "why"> {
  readonly inputs: RotationInputs;
  readonly given: Given;
}

interface Given extends Partial<Pick<Context, "canRead" | "isScheduleOn" | "ownToken" | "account">> {
  /** Default: 1. */
  readonly hours?: number;
  /** Those that are valid, by how long, or by a name below. Default: if two can be valid, one until a Retirement. */
  readonly formers?: readonly (string | Partial<Former>)[] | keyof typeof manyFormers;
  /** What the saved program says. Default: what it says now. */
  readonly saved?: RotationInputs;
  /** What the saved state says of a rotation that waits. */
  readonly waits?: string;
  /** Of a destroy: when its Retirement has retired. */
  readonly retiredAt?: string;
  /** What the read has shown. Default: the plan is made before the read. */
  readonly read?: Partial<NonNullable<Context["read"]>> | null;
}

const at = (hours: number) => timeAt(hours).toISOString();
const empty = { ...emptyMemory(timeAt(0)), salt: "salt" };
const trigger = (version: number) => triggerMark(empty, readProgram({ version }, queueToken).trigger);

/** A former one that is valid since hour 0, and was generated a day before. */
const former = (more: string | Partial<Former> = {}): Former => ({
  ...{ retireHash: "h0", since: at(0), validFor: "retirement", generatedAt: at(-24) },
  ...(typeof more === "string" ? { validFor: more } : more),
});
const nine = Array.from({ length: 9 }, (_, nth) => former({ retireHash: `h${nth + 2}`, since: at(nth) }));
const nineOfRekey = nine.map((one) => ({ ...one, credential: { name: "password", mark: "former" } as const }));
const manyFormers = {
  "nine of others": nine,
  nine: nineOfRekey,
  eight: nineOfRekey.slice(1),
  "one that is retired": [former({ retireHash: undefined })],
  "one of unknown age": [former({ generatedAt: undefined })],
  "nine for 72h": nineOfRekey.map((one) => ({ ...one, validFor: "72h" })),
};

const kinds = { password: databasePassword, token: queueToken, user: aclUser, keys: signingKeys };
const sent = (more: Partial<Attempt>): Partial<Memory> => ({
  attempt: { trigger: trigger(1), reason: "trigger", count: 1, firstSentAt: at(0), lastSentAt: at(0), ...more },
});
const ofToken = (marks: Memory["current"]["marks"]) => ({
  current: { marks, identity: "token", generatedAt: at(0) } as const,
});

/** What may be known of a secret. */
const facts: Readonly<Record<string, (memory: Memory) => Partial<Memory>>> = {
  imported: () => ({ applied: undefined }),
  "a day older": ({ current }) => ({ current: { ...current, generatedAt: at(-24) } }),
  "of unknown age": ({ current }) => ({ current: { ...current, generatedAt: undefined } }),
  "to be read": ({ current }) => ({ current: { ...current, mustRead: true } }),
  lost: () => sent({ trigger: trigger(2) }),
  "lost after a read": () => sent({ trigger: trigger(2), canSettle: true }),
  "lost three times": () => sent({ trigger: trigger(2), count: 3 }),
  "lost by schedule": () => sent({ reason: "schedule", lastSentAt: at(168) }),
  "rolled by schedule, and lost": () => sent({ reason: "schedule", lastSentAt: at(2) }),
  unproven: () => sent({ reason: "schedule", adds: true, expects: "expected", firstSentAt: at(1), lastSentAt: at(1) }),
  "unproven nine times": () => sent({ reason: "schedule", adds: true, count: 9 }),
  "of no account": () => ({ kindFacts: {} }),
  "of uncertain hash": () => ({ kindFacts: {} }),
  "never rotated": () => ({ current: { marks: {} }, kindFacts: {} }),
  "not saved": ({ kindFacts }) => ({ kindFacts: { ...kindFacts, isUnsaved: true } }),
  own: () => ofToken({ token: saltedMark("salt", "own") }),
  "own for reads": () => ofToken({ token: "mark", readOnlyToken: saltedMark("salt", "own") }),
};

const account = { account: "a", address: "https://a" };
const ofKind = (kind: SecretKind): Memory => ({
  ...empty,
  applied: trigger(1),
  current: { marks: { [kind.identities[0]]: "mark" }, identity: kind.identities[0], generatedAt: at(0), form: {} },
  formers: kind === signingKeys ? [former({ retireHash: undefined, validFor: "1h" })] : [],
  kindFacts: kind === signingKeys ? account : kind === aclUser ? { hash: "h1" } : {},
});

/** The secret, the program and the context of a row, and the plan that is made of them. */
export function planned({ secret, inputs, given }: PlanRow) {
  const [name = "", ...known] = secret.split("; ");
  const isNew = name.startsWith("new ");
  const kind = kinds[name.replace("new ", "") as keyof typeof kinds];
  const { hours = 1, formers, saved, waits, read, retiredAt: _, ...more } = given;
  const desired = { version: 1, ...inputs };
  const program = readProgram(desired, kind);
  const list = typeof formers === "string" ? manyFormers[formers] : formers?.map(former);
  let memory: Memory = { ...ofKind(kind), program: savedProgram(readProgram(saved ?? desired, kind), empty) };
  memory = { ...memory, formers: list ?? (kind === queueToken || kind === aclUser ? [former()] : memory.formers) };
  for (const fact of known) memory = { ...memory, ...(facts[fact] ?? assert.fail(fact))(memory) };
  const context: Context = {
    ...{ kind, now: timeAt(hours), canRead: true, isScheduleOn: true, account },
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, value ?? undefined])),
    ...(read && { read: { shown: {}, shownInRun: read.shown ? [read.shown] : [], ...read } }),
  };
  const state = isNew ? undefined : { rotationCount: 1, memory, waits };
  return { state, program, context, plan: planRotation(state, program, context) };
}

const known = [
  ...["version", "triggers", "rotateEvery", "rotatedSince", "initialRotation", "minInterval", "saveCredentials"],
  ...["encryptFor", "overlap", "connection"],
  ...["hours", "formers", "saved", "waits", "read", "canRead", "isScheduleOn", "ownToken", "account", "retiredAt"],
];

/** `rotate: trigger`, `keep and save, waits: schedule`, `retire: date`, `refuse: REKEY_…` */
function textOf(plan: Plan): string {
  switch (plan.kind) {
    case "rotate":
      return `rotate${plan.isAgain ? " again" : ""}: ${plan.reason}`;
    case "refuse":
      return `refuse: ${plan.code}`;
    case "maybe":
      return `maybe: ${plan.names.join()}`;
    case "adopt":
      return plan.mayRotate ? "adopt or rotate" : "adopt";
    default: {
      const saves = plan.kind === "keep" && plan.saves ? " and save" : "";
      const why = "why" in plan && plan.why ? `: ${plan.why}` : "";
      return plan.kind + saves + why + (plan.waits ? `, waits: ${plan.waits.reason}` : "");
    }
  }
}

/** The rows of a table of plans. @param usually what an empty cell is, and what the fields of a row are added to */
export function plansIn(usually: Partial<Cells>, text: string): PlanRow[] {
  return tableOf(columns, text).map((row) => planIn(usually, row));
}

function planIn(usually: Partial<Cells>, row: Cells): PlanRow {
  const either = (name: "secret" | "plan" | "why") => row[name] || (usually[name] ?? "");
  const both = (name: "inputs" | "given") => {
    const fields = fieldsIn(usually[name] ?? "", row[name]);
    for (const field of Object.keys(fields)) assert.ok(known.includes(field), `${row.title}: ${field}`);
    return fields;
  };
  const [secret, plan, why] = [either("secret"), either("plan"), either("why")];
  return { title: row.title, secret, plan, why, inputs: both("inputs"), given: both("given") };
}

/** Tests the plans of a table with sections. */
export function testPlans(text: string): void {
  for (const { title, usually, rows } of sectionsOf(columns, text)) {
    describe(title, () => {
      for (const row of rows.map((one) => planIn(usually, one))) {
        it(row.title, () => {
          const { plan } = planned(row);
          assert.equal(textOf(plan), row.plan);
          const why = plan.kind === "refuse" ? plan.why : "waits" in plan ? (plan.waits?.why ?? "") : "";
          assert.match(why, new RegExp(row.why));
        });
      }
    });
  }
}
