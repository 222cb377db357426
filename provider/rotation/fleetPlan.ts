import { InputError } from "../platform/errors";
import { secretOf, type Subject } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { isUnknown, unknownValue } from "../records/properties";
import { type InputProblem, type Notice, schemaProblems, type TableOf } from "../resource";
import { type Run } from "../run";
import { type SavedMember, subjectOf } from "./fleetState";
import { databasePassword } from "./kinds/databasePassword";
import { type Said, saidOf, withCount } from "./messages";
import { contextOf, type Desired, type Plan, planRotation } from "./plan";
import { changingOutputs, refreshedIn, renamed, settingsNotice } from "./rotation";
import { type Trigger } from "./marks";

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
  return Object.entries(isObject(databases) ? databases : {}).map(([name, given]) => {
    const { databaseId, ...own } = asObject(given);
    return { name, databaseId, own };
  });
}

function asObject(given: FleetMember): Exclude<FleetMember, string> {
  return isObject(given) ? (given as Exclude<FleetMember, string>) : { databaseId: given as string };
}

const memberInputs: TableOf = ({ id, trigger }) => ({
  required: ["databaseId"],
  schemas: { databaseId: id, ...trigger },
});

/** What is wrong with the databases, as far as they are known. */
export function databasesProblems(inputs: FleetInputs): InputProblem[] {
  const problems = Object.entries(inputs.databases).flatMap(([name, given]) => {
    // In a list, the id is the name, too, and may be an address with a password in it.
    const of = name === given ? "databases" : `databases[${JSON.stringify(name)}]`;
    return schemaProblems(memberInputs, { ...asObject(given) }).map(({ property, problem }) => {
      return { property: isObject(given) ? `${of}.${property}` : of, problem };
    });
  });
  return problems.length > 0 ? problems : duplicatesIn(inputs);
}

function duplicatesIn(inputs: FleetInputs): InputProblem[] {
  const names = new Map<string, string>();
  return membersOf(inputs).flatMap(({ name, databaseId }) => {
    const other = isUnknown(databaseId) ? undefined : names.get(databaseId);
    names.set(databaseId, name);
    if (other === undefined) return [];
    const [id, first, second] = [databaseId, other, name].map((one) => JSON.stringify(one));
    return [
      { property: "databases", problem: `has the database ${id} twice, as ${first} and as ${second}: remove one` },
    ];
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
    const saved = before?.get(databaseId);
    const desired = { ...inputs, ...combined(inputs, own) };
    const isAnyone = before !== undefined && isUnknown(databaseId);
    const plan: Plan = isAnyone
      ? { kind: "maybe", names: ["databaseId"] }
      : planRotation(saved?.state, desired, context);
    return { name, subject: subjectOf({ databaseId }), before: saved, desired, plan };
  });
}

/** The trigger of one database: the fleet's and its own. The prefixes keep the two apart. */
function combined(fleet: Trigger, own: Trigger): Trigger {
  const version = isUnknown(own.version) ? own.version : fleet.version;
  if (isUnknown([fleet.triggers, own.triggers])) return { version, triggers: unknownValue as never };
  const of = (prefix: string, { triggers }: Trigger) =>
    Object.entries(triggers ?? {}).map(([name, value]) => [`${prefix}.${name}`, value] as const);
  const ownVersion = isUnknown(own.version) ? undefined : own.version;
  return { version, triggers: Object.fromEntries([...of("fleet", fleet), ...of("own", own), ["version", ownVersion]]) };
}

/** Whether the outputs change although no database does: names, databases that were removed, or what was an error. */
export function isRewritten(before: ReadonlyMap<string, SavedMember>, members: readonly PlannedMember[]): boolean {
  return (
    before.size !== members.length ||
    members.some(({ name, before: saved }) => saved?.name !== name || saved.error !== undefined)
  );
}

/** The outputs that the plans may change; undefined for all. */
export function changingIn(members: readonly PlannedMember[]): string[] | undefined {
  const single = ["otherFields", "connectionUrl", "encryptedCredentials", "nextRotationAt", "access", "memory"];
  const inFleet: Readonly<Record<string, string>> = { otherFields: "credentials", connectionUrl: "connectionUrls" };
  const changed = new Set<string>();
  for (const { plan, before, desired } of members) {
    if (plan.kind === "keep") continue;
    if (plan.kind !== "save" || before?.state === undefined) return undefined;
    for (const name of changingOutputs(single, plan, before.state, desired) ?? []) changed.add(inFleet[name] ?? name);
  }
  return [...changed];
}

/** What is said of one database of a fleet. */
export interface SaidOfOne {
  readonly name: string;
  /** What has the same reason is said once. Default: the text without its times. */
  readonly reason?: string;
  readonly said: Said;
  /** The secret, if its reset is announced. */
  readonly secret?: string | symbol;
}

/** What is said of the plans, before they are carried out. */
export function announcedIn(members: readonly PlannedMember[], isSaved: boolean, run: Run): Notice[] {
  const all = members.flatMap(({ name, subject, plan, before, desired }): SaidOfOne[] => {
    const said = saidOf(plan, before?.state, desired, contextOf(subject, run), isSaved);
    if (plan.kind !== "reset") return said.map((one) => ({ name, said: one }));
    // Each secret whose id is not known yet is another one.
    const secret = isUnknown(subject.id) ? Symbol() : secretOf(subject);
    const isRenamed = !isSaved && refreshedIn(run).has(secretOf(subject));
    const all = isRenamed ? [...said, renamed] : said;
    return all.map((one, index) => ({ name, said: one, ...(index === 0 && { secret }) }));
  });
  return [...fleetNotices(all, run), ...members.flatMap(({ subject, plan }) => settingsNotice(subject, plan, run))];
}

/** One line for each reason, with the resets counted. */
export function fleetNotices(all: readonly SaidOfOne[], run: Run): Notice[] {
  const groups = new Map<string, [SaidOfOne, ...SaidOfOne[]]>();
  for (const one of all) {
    const key = one.reason ?? withoutTimes(one.said.text);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
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

/** The text of a plan without its times and other numbers: plans that differ only in these have the same reason. */
function withoutTimes(text: string): string {
  return text.replace(/\d[\d:.TZ-]*/g, "");
}

/** Databases that a notice names; the others are counted. */
const maxNamed = 5;

function passwordOf(names: readonly string[]): string {
  const shown = names.slice(0, maxNamed).map((name) => JSON.stringify(name));
  if (names.length === 1) return `Password of database ${shown.join()}`;
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `Password of each of ${names.length} databases (${shown.join(", ")}${more})`;
}
