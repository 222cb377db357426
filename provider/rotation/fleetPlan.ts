import { InputError } from "../platform/errors";
import { secretOf, type Subject } from "../platform/secretKind";
import { idProblem, isObject } from "../records/fields";
import { isUnknown, unknownValue } from "../records/properties";
import { type InputProblem, type Notice, schemaProblems, type TableOf } from "../resource";
import { type Run } from "../run";
import { hasRecords, type SavedMember, subjectOf } from "./fleetState";
import { databasePassword } from "./kinds/databasePassword";
import { type Said, saidOf, withCount } from "./messages";
import { contextOf, type Desired, type Plan, planRotation } from "./plan";
import { changingOutputs, renamed, settingsNotice, stateOf } from "./rotation";
import { type Trigger } from "./trigger";

/** A database of a fleet: its id, or its id and its own trigger. In a preview, any may be unknown. */
type FleetMember = string | ({ readonly databaseId: string } & Trigger);

/** The inputs of a fleet. */
export interface FleetInputs extends Desired {
  readonly databases: Readonly<Record<string, FleetMember>>;
  readonly concurrency?: number | null | undefined;
  readonly maxFailures?: number | null | undefined;
  readonly includeRecords?: boolean | null | undefined;
}

/** The databases of a program; none while all of them are unknown. */
export function membersOf({ databases }: FleetInputs): { name: string; databaseId: string; own: Trigger }[] {
  if (!isObject(databases)) return [];
  return Object.entries(databases).map(([name, given]) => {
    const { databaseId, ...own } = asMember(given);
    return { name, databaseId, own };
  });
}

function asMember(given: FleetMember): Exclude<FleetMember, string> {
  return isObject(given) ? (given as Exclude<FleetMember, string>) : { databaseId: given as string };
}

/** What is wrong with the databases, as far as they are known. */
export function databasesProblems(inputs: FleetInputs): InputProblem[] {
  const problems = Object.entries(isObject(inputs.databases) ? inputs.databases : {}).flatMap(memberProblems);
  return problems.length > 0 ? problems : duplicatesIn(inputs);
}

const memberInputs: TableOf = ({ id, trigger }) => ({
  required: ["databaseId"],
  schemas: { databaseId: id, ...trigger },
});

function memberProblems([name, given]: [name: string, given: unknown]): InputProblem[] {
  const property = `databases[${JSON.stringify(name)}]`;
  if (isObject(given)) {
    return schemaProblems(memberInputs, given).map((one) => ({ ...one, property: `${property}.${one.property}` }));
  }
  const wrong = "must be the id of a database, or an object with its databaseId";
  const problem = typeof given === "string" ? idProblem(given) : wrong;
  // In a list, the id is the name, too, and may be an address with a password in it.
  return problem === undefined ? [] : [{ property: name === given ? "databases" : property, problem }];
}

function duplicatesIn(inputs: FleetInputs): InputProblem[] {
  const names = new Map<string, string>();
  return membersOf(inputs).flatMap(({ name, databaseId }) => {
    const other = names.get(databaseId);
    if (!isUnknown(databaseId)) names.set(databaseId, name);
    if (other === undefined) return [];
    const [id, both] = [JSON.stringify(databaseId), [other, name].map((one) => JSON.stringify(one)).join(" and as ")];
    return [{ property: "databases", problem: `has the database ${id} twice, as ${both}: remove one of them` }];
  });
}

/** One database: what is saved of it, what is desired, and what would be done. */
export interface PlannedMember {
  readonly name: string;
  readonly subject: Subject;
  readonly before: SavedMember | undefined;
  readonly desired: Desired;
  readonly plan: Plan;
}

/**
 * Plans each database as a single one.
 *
 * @throws InputError if a fleet that has databases is to have none
 */
export function plannedMembers(
  before: ReadonlyMap<string, SavedMember> | undefined,
  inputs: FleetInputs,
  run: Run,
): PlannedMember[] {
  const members = membersOf(inputs);
  if (members.length === 0 && before && before.size > 0) {
    const reason =
      "is empty, but the fleet has some in its state. If the map is from the platform, check it; to stop rotating them, remove the fleet";
    throw new InputError("databases", reason);
  }
  const context = contextOf({ kind: databasePassword }, run);
  return members.map(({ name, databaseId, own }) => {
    const subject = subjectOf({ databaseId });
    const saved = before?.get(databaseId);
    const desired = { ...inputs, ...combined(inputs, own) };
    const plan: Plan =
      before && isUnknown(databaseId)
        ? { kind: "maybe", names: ["databaseId"] }
        : planRotation(saved?.state, desired, context);
    return { name, subject, before: saved, desired, plan };
  });
}

/** The trigger of one database: the fleet's and its own. The prefixes keep the two apart. */
function combined(fleet: Trigger, own: Trigger): Trigger {
  const isOpen = (name: keyof Trigger) => isUnknown(fleet[name]) || isUnknown(own[name]);
  const of = (prefix: string, { triggers }: Trigger) =>
    Object.entries(triggers ?? {}).map(([name, value]) => [`${prefix}.${name}`, value] as const);
  const all = () => Object.fromEntries([...of("fleet", fleet), ...of("own", own), ["version", own.version]]);
  return {
    version: isOpen("version") ? unknownValue : fleet.version,
    triggers: isOpen("triggers") ? (unknownValue as never) : isOpen("version") ? {} : all(),
  };
}

/** Whether the outputs change although no database does: names, databases that were removed, or what was an error. */
export function isRewritten(
  before: ReadonlyMap<string, SavedMember>,
  members: readonly PlannedMember[],
  { includeRecords }: FleetInputs,
): boolean {
  return (
    before.size !== members.length ||
    members.some(({ name, before: saved }) => saved?.name !== name || saved.error !== undefined) ||
    (includeRecords !== true && !isUnknown(includeRecords) && hasRecords(before.values()))
  );
}

/** The fleet's output that has an output of one database. */
const outputOf: Readonly<Record<string, string>> = {
  password: "credentials",
  restToken: "credentials",
  readOnlyRestToken: "credentials",
  otherFields: "credentials",
  connectionUrl: "connectionUrls",
  encryptedCredentials: "encryptedCredentials",
  nextRotationAt: "nextRotationAt",
  access: "access",
  memory: "memory",
};

/** The outputs that the plans may change; undefined for all. */
export function changingIn(members: readonly PlannedMember[]): string[] | undefined {
  const changed = new Set<string>();
  for (const { plan, before, desired } of members) {
    if (plan.kind === "keep") continue;
    if (plan.kind !== "save" || before?.state === undefined) return undefined;
    for (const name of changingOutputs(Object.keys(outputOf), plan, before.state, desired) ?? []) {
      changed.add(outputOf[name] ?? "");
    }
  }
  return [...changed];
}

/** What is said of the plans, before they are carried out. */
export function announcedIn(members: readonly PlannedMember[], isSaved: boolean, run: Run): Notice[] {
  const since = ({ plan }: PlannedMember): string =>
    (plan.kind === "reset" ? plan.since : "waits" in plan ? plan.waits?.since : undefined) ?? "";
  // Those that are due for the longest time are named.
  const sorted = members.toSorted((a, b) => (since(a) < since(b) ? -1 : since(a) > since(b) ? 1 : 0));
  const all = sorted.flatMap(({ name, subject, plan, before, desired }): SaidOfOne[] => {
    const said = saidOf(plan, before?.state, desired, contextOf(subject, run), isSaved);
    const isReset = plan.kind === "reset";
    // Each secret whose id is not known yet is another one.
    const secret = isReset ? (isUnknown(subject.id) ? Symbol() : secretOf(subject)) : undefined;
    const isInState = isReset && !isSaved && stateOf(run).has(secretOf(subject));
    return [
      ...said.map((one, index) => ({ name, said: one, secret: index === 0 ? secret : undefined })),
      ...(isInState ? [{ name, said: renamed }] : []),
    ];
  });
  return [...fleetNotices(all, run), ...members.flatMap(({ subject, plan }) => settingsNotice(subject, plan, run))];
}

/** What is said of one database of a fleet. */
export interface SaidOfOne {
  readonly name: string;
  /** What has the same reason is said once. Default: the text without its times. */
  readonly reason?: string;
  readonly said: Said;
  /** The secret, if its reset is announced. */
  readonly secret?: string | symbol | undefined;
}

/** Databases that a notice names; the others are counted. */
const maxNamed = 5;

/** One line for each reason, with the resets counted. */
export function fleetNotices(all: readonly SaidOfOne[], run: Run): Notice[] {
  const groups = new Map<string, SaidOfOne[]>();
  for (const one of all) {
    const key = one.reason ?? withoutTimes(one.said.text);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const isAlike = group.every(({ said }) => said.text === first.said.text);
    const details = isAlike ? "" : ` The details are those of ${JSON.stringify(first.name)}.`;
    const said = { ...first.said, text: first.said.text + details };
    const secrets = group.flatMap(({ secret }) => secret ?? []);
    const counted = secrets.length > 0 ? run.announce(secrets) : undefined;
    // A replacement is announced once, by its diff.
    if (secrets.length > 0 && counted === undefined) return [];
    const { text, isWarning } = counted ? withCount(said, counted) : said;
    return [{ text: `${passwordOf(group.map(({ name }) => name))}: ${text}`, isWarning }];
  });
}

/** The text of a plan without the times in it: `2026-11-21T12:00:00.000Z`, `3 days`. */
function withoutTimes(text: string): string {
  return text.replace(/\d+ [a-z]+ late|\d[\d:.TZ-]*/g, "");
}

function passwordOf(names: readonly string[]): string {
  const shown = names.slice(0, maxNamed).map((name) => JSON.stringify(name));
  if (names.length === 1) return `Password of database ${shown.join()}`;
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `Password of each of ${names.length} databases (${shown.join(", ")}${more})`;
}
