import { identityIn, identityMarks, knownCredential } from "./evidence";
import { type CredentialName } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { type Desired, formOf, programOf } from "./desired";
import { type Finding, type Learned } from "./findings";
import { type Marks, marksOf, namesIn, triggerMark } from "./marks";
import { type Context } from "./plan";
import { isFuture } from "./schedule";
import {
  emptyMemory,
  isSame,
  progressOf,
  type State,
  withFormer,
  withoutValues,
  withRecord,
} from "./state";

/** A read that shows an old credential is outdated, and changes nothing. */
export function stale(saved: State): Learned {
  const why =
    "the platform still shows an old credential. If it keeps doing so, set a new version, which resets it once more";
  return { state: saved, findings: [{ kind: "notCompared", why }] };
}

/**
 * Takes only the fields that are not credentials. It also ends the wait for the credentials of the last reset: a
 * platform that hides them now, as Upstash does with Credential Protection, will not show them to the next read.
 */
export function afterHidden(saved: State, read: SecretResponse, context: Context): Learned {
  const { memory } = saved;
  const names = namesIn(memory.current);
  const state = {
    ...withRecord(saved, read),
    otherFields: saved.otherFields,
    memory: { ...memory, isUnread: undefined },
  };
  const unseen: Finding[] = memory.isUnread ? [{ kind: "unknown" }] : hidden(names);
  return {
    state: withCreationTime(state, context),
    findings: [...found("drift", changedFields(saved, read)), ...unseen],
  };
}

/** The secret is unchanged; other credentials of its record may be new, or shown for the first time. */
export function afterSame(
  saved: State,
  read: SecretResponse,
  shown: Marks,
  context: Context,
): Learned {
  const { memory } = saved;
  const { current } = memory;
  const known = namesIn(current);
  const changed = known.filter(
    (name) => shown[name] !== undefined && shown[name] !== current[name],
  );
  const missing = known.filter((name) => shown[name] === undefined);
  const state: State = {
    ...withRecord(saved, read),
    ...read.credentials,
    otherFields: read.otherFields,
    memory: { ...memory, current: { ...current, ...shown }, isUnread: undefined },
  };
  const findings = [
    ...found("drift", [...changed, ...changedFields(saved, read)]),
    ...hidden(missing),
  ];
  return { state: withCreationTime(state, context), findings };
}

/** Someone else has changed the secret, or it was not known before. */
export function afterDrift(
  saved: State,
  read: SecretResponse,
  shown: Marks,
  context: Context,
): Learned {
  const { memory } = saved;
  const { kind } = context;
  const known = knownCredential(kind, memory.current, memory);
  const state: State = {
    ...withRecord(withoutValues(saved), read),
    ...read.credentials,
    otherFields: read.otherFields,
    memory: {
      ...memory,
      identity: memory.identity ?? identityIn(kind, shown),
      current: shown,
      former: withFormer(memory, identityMarks(kind, memory.current), shown),
      replaced: known ?? memory.replaced,
      isUnread: undefined,
    },
  };
  const names = [...namesIn(shown), ...changedFields(saved, read)];
  return {
    state: withCreationTime(state, context),
    findings: [...found("drift", known ? names : []), ...noLongerKnown(memory.current, shown)],
  };
}

/** The state of a secret that is adopted without a reset. */
export function adopted(
  desired: Desired,
  read: SecretResponse | undefined,
  context: Context,
): Learned {
  const memory = emptyMemory(context.now);
  const { credentials = {} } = read ?? {};
  const current = marksOf(memory, credentials);
  const identity = identityIn(context.kind, current);
  const state: State = {
    ...credentials,
    rotationCount: 0,
    memory: {
      ...memory,
      ...programOf(desired),
      applied: triggerMark(memory, desired),
      identity,
      current,
      form: formOf(desired),
      keys: context.account,
    },
  };
  const why = read
    ? "the platform does not show them"
    : "this platform cannot be read without rekey:databasePath. Rekey made no request";
  return {
    state: read ? withCreationTime(withRecord(state, read), context) : state,
    findings: identity ? tokenOnly(identity) : [{ kind: "adopted", why }],
  };
}

/**
 * Takes the `creationTime` of a record, if it is not in the future, for the time when its secret was generated: nothing
 * better is known of an adopted one.
 */
function withCreationTime(state: State, { kind, now }: Context): State {
  const seconds = state.record?.["creationTime"];
  const isAdopted = progressOf(state).outcome === "adopted" && !kind.rolls;
  if (!isAdopted || typeof seconds !== "number") return state;
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime()) || isFuture(at.toISOString(), now)) return state;
  return { ...state, memory: { ...state.memory, generatedAt: at.toISOString() } };
}

function changedFields({ record = {} }: State, read: SecretResponse): string[] {
  return Object.keys(record).filter((name) => {
    return read.record[name] !== undefined && !isSame(record[name], read.record[name]);
  });
}

/** A database may have one token instead of a password, as the console of a vendor shows it. */
export function tokenOnly(identity: CredentialName | undefined): Finding[] {
  return identity === "restToken" ? [{ kind: "tokenOnly" }] : [];
}

/** What was known before, and is not known any more. */
export function noLongerKnown(before: Marks, after: Marks): Finding[] {
  return found(
    "unknown",
    namesIn(before).filter((name) => after[name] === undefined),
  );
}

/** Credentials that are saved, and that a read does not show. */
function hidden(names: readonly string[]): Finding[] {
  if (names.length === 0) return [];
  const why = `the platform does not show ${names.join(", ")}. If it was changed outside of Rekey, set a new version`;
  return [{ kind: "notCompared", why }];
}

/** A finding about some names, if there are any. */
function found(kind: Finding["kind"], names: readonly string[]): Finding[] {
  return names.length > 0 ? [{ kind, names }] : [];
}
