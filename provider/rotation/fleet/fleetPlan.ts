import { isDeepStrictEqual } from "node:util";
import { InputError } from "../../domain/errors";
import { databasePassword, secretOf } from "../../domain/secretKind";
import { canonicalId, isObject } from "../../records/fields";
import { isUnknown, unknownValue } from "../../pulumi/values";
import {
  type InputProblem,
  type Notice,
  type Planned,
  schemaProblems,
  type TableOf,
} from "../../resource/resource";
import { type Run } from "../../run/run";
import { type Message } from "../messages/findings";
import { type FleetOutputs, namesInLine, readFleet } from "./fleetOutputs";
import {
  announce,
  announcementsOf,
  type PlannedSecret,
  planSecret,
  tooMany,
} from "../messages/announcements";
import { notice } from "../messages/messages";
import { isChange } from "../program/plan";
import { settingsNotice } from "../rotation";
import { changingOutputs } from "../outputs/rotationOutputs";
import { type Trigger } from "../memory/marks";
import { readProgram, type RotationInputs } from "../program/program";

/** A database of a program, with its own trigger. In a preview, any of it may be unknown. */
type MemberInputs = { readonly databaseId: string } & Trigger;

export interface FleetInputs extends RotationInputs {
  /** By name. A database that is only an id has the trigger of the fleet. */
  readonly databases: Readonly<Record<string, string | MemberInputs>>;
  readonly maxFailures?: number | null | undefined;
}

const memberInputs: TableOf = ({ id, trigger }) => ({
  required: ["databaseId"],
  schemas: { databaseId: id, ...trigger },
});

/** The databases by their names; none while all of them are unknown. */
function membersIn({ databases }: Pick<FleetInputs, "databases">): [name: string, MemberInputs][] {
  const all = Object.entries(isObject(databases) ? databases : {});
  return all.map(([name, given]) => [
    name,
    (isObject(given) ? given : { databaseId: given }) as MemberInputs,
  ]);
}

/** The ids of the databases by their names, as they are compared. */
export function idsIn(inputs: Pick<FleetInputs, "databases">): Record<string, string> {
  return Object.fromEntries(
    membersIn(inputs).map(([name, { databaseId }]) => [name, canonicalId(databaseId)]),
  );
}

/** Why a map of databases cannot have a name, if it cannot: neither Pulumi nor JavaScript keeps such names apart. */
export function nameProblem(name: string): string | undefined {
  if (!(name in {})) return undefined;
  return `must not have the name ${JSON.stringify(name)}, which every JavaScript object has: choose another one`;
}

/** Problems with the databases, as far as they are known. */
export function databasesProblems(inputs: FleetInputs): InputProblem[] {
  const names = new Map<string, string>();
  return membersIn(inputs).flatMap(([name, member]) => {
    const wrongName = nameProblem(name);
    if (wrongName !== undefined) return { property: "databases", problem: wrongName };
    const given = inputs.databases[name];
    // In a list, the id is the name, too, and may be an address with a password in it.
    const of = name === given ? "databases" : `databases[${JSON.stringify(name)}]`;
    const problems = schemaProblems(memberInputs, { ...member }).map(({ property, problem }) => {
      return { property: member === given ? `${of}.${property}` : of, problem };
    });
    const { databaseId } = member;
    if (problems.length > 0 || isUnknown(databaseId)) return problems;
    const other = names.get(canonicalId(databaseId));
    names.set(canonicalId(databaseId), name);
    if (other === undefined) return [];
    const [id, first, second] = [databaseId, other, name].map((one) => JSON.stringify(one));
    return {
      property: "databases",
      problem: `has the database ${id} twice, as ${first} and as ${second}: remove one`,
    };
  });
}

/** One database, with what was saved of it, what is desired, and what would be done. */
export interface PlannedMember extends PlannedSecret {
  readonly name: string;
}

/**
 * Plans each database as a single one.
 *
 * @throws InputError if a fleet that has databases is to have none
 */
export function plannedMembers(
  saved: FleetOutputs | undefined,
  inputs: FleetInputs,
  run: Run,
): PlannedMember[] {
  const before = saved && readFleet(saved);
  const all = membersIn(inputs);
  if (all.length === 0 && before && before.size > 0) {
    const reason =
      "is empty, but the fleet has some in its state. If the map comes from the platform, check it. To stop rotating them, remove the fleet";
    throw new InputError("databases", reason);
  }
  const { databases: _perMember, ...ofAll } = inputs;
  const programWith = (own: Trigger) =>
    readProgram({ ...ofAll, ...combined(inputs, own) }, databasePassword);
  const common = programWith({});
  return all.map(([name, { databaseId: id, ...own }]) => {
    const { state, subject = { kind: databasePassword, id } } = before?.get(canonicalId(id)) ?? {};
    const program = Object.keys(own).length === 0 ? common : programWith(own);
    return {
      name,
      ...planSecret({ subject, state, program, isInFleet: before !== undefined }, run),
    };
  });
}

/** True if a database is reset whatever the read before shows. */
export function isCertain({ plan, isTentative }: PlannedMember): boolean {
  return plan.kind === "rotate" && !isTentative;
}

/** The trigger of one database: the fleet's and its own. The prefixes keep the two apart. */
function combined(fleet: Trigger, own: Trigger): Trigger {
  const of = (prefix: string, { triggers }: Trigger) =>
    isUnknown(triggers)
      ? [[prefix, unknownValue] as const]
      : Object.entries(triggers ?? {}).map(
          ([name, value]) => [`${prefix}.${name}`, value] as const,
        );
  const triggers = Object.fromEntries([...of("fleet", fleet), ...of("own", own)]);
  return isUnknown(own.version)
    ? { version: own.version, triggers }
    : { version: fleet.version, triggers: { ...triggers, version: own.version } };
}

/** The plan of an `up`, which changes outputs of these names. */
export function planFleet(
  saved: FleetOutputs | undefined,
  inputs: FleetInputs,
  names: readonly string[],
  run: Run,
): Planned {
  if (!isObject(inputs.databases)) {
    const text = "The passwords of the databases may be reset (not known yet: databases).";
    return { changes: true, notices: [{ text }, ...run.settingsWarning(databasePassword.service)] };
  }
  const members = plannedMembers(saved, inputs, run);
  const certain = members.filter(isCertain).map(({ subject }) => secretOf(subject));
  const limited = { count: certain.length, left: run.leftFor(certain) };
  const isOverLimit = limited.count > limited.left;
  const messages = members.flatMap((member) =>
    announcementsOf(member, run).map((one): MemberMessage => {
      if (!isOverLimit || !isCertain(member) || !one.secrets) {
        return { name: member.name, message: one };
      }
      const text = `${one.text} ${tooMany(limited)}: none will be sent.`;
      const message = { about: one.about, does: "would reset", text, isWarning: true };
      return { name: member.name, message };
    }),
  );
  // A name has changed, a database was removed, or an error may end.
  const isRewritten =
    !saved ||
    Object.values(saved.states).some(({ error }) => error !== undefined) ||
    !isDeepStrictEqual(idsIn({ databases: saved.states }), idsIn(inputs));
  const changed = members.filter(({ plan }) => isChange(plan));
  const changing = changed.map(
    ({ plan, state, program }) => state && changingOutputs(names, plan, state, program),
  );
  return {
    changes: isRewritten || changed.length > 0,
    changing:
      isRewritten || changing.includes(undefined)
        ? undefined
        : [...new Set(changing.flatMap((one) => one ?? []))],
    notices: [
      ...fleetNotices(messages, run),
      ...members.flatMap(({ subject, plan }) => settingsNotice(subject, plan, run)),
    ],
  };
}

/** A message about one database. */
interface MemberMessage {
  readonly name: string;
  readonly message: Message;
}

/** One line for all messages about the same, with the resets counted. */
export function fleetNotices(all: readonly MemberMessage[], run: Run): Notice[] {
  const groups = new Map<string, MemberMessage[]>();
  for (const one of all) {
    const group = groups.get(one.message.about);
    if (group) group.push(one);
    else groups.set(one.message.about, [one]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group as [MemberMessage];
    const { message } = first;
    const isAlike = group.every((one) => one.message.text === message.text);
    const details = isAlike ? "" : ` These details are for ${JSON.stringify(first.name)}.`;
    const secrets = message.secrets && group.flatMap((one) => one.message.secrets ?? []);
    const names = namesInLine(group.map(({ name }) => JSON.stringify(name)));
    const password =
      group.length === 1
        ? `password of database ${names}`
        : `password of each of ${group.length} databases (${names})`;
    return announce({ ...message, text: message.text + details, secrets }, run).map((one) =>
      notice(password, one),
    );
  });
}
