import { isDeepStrictEqual } from "node:util";
import { secretOf } from "../domain/secretKind";
import { isUnknown } from "../pulumi/values";
import { isObject, isSet, orUndefined } from "../records/fields";
import {
  type Claim,
  type InputProblem,
  type Notice,
  type Planned,
  type Resource,
  type Result,
} from "../resource/resource";
import { keyOf } from "../rotation/program/access";
import { contextOf } from "../rotation/program/context";
import { type Finding, messageOf } from "../rotation/messages/findings";
import { validUntil } from "../rotation/program/formers";
import { saltedMark } from "../rotation/memory/marks";
import { type Former } from "../rotation/memory/memory";
import { noticeAbout } from "../rotation/messages/messages";
import { type Run } from "../run/run";
import { accessInput } from "../verification/credentialVerification";
import { type Target, targetsIn } from "../verification/targets";
import { proveRefused, retireFormers, mayRetire, waitingOf } from "./retireFormers";

export interface RetirementInputs {
  /** JSON text of one `Access`. */
  readonly access: string;
  readonly credential?: string | Readonly<Record<string, string>> | null | undefined;
}

/** All that it remembers: which secret it is about, and what was handed to consumers. */
export interface RetirementOutputs extends RetirementInputs {
  readonly subject: string;
  /** When the youngest of those was replaced that are retired at the end of the run (ISO 8601, UTC). */
  readonly retires?: string | undefined;
}

const notGiven = "must be a text, or a map of texts, none of which is empty or undefined";
const ofTwoValid = "a QueueTokenRotation or an AclUserRotation";

/**
 * Retires the former ones of a secret after everything that uses the new one. While one waits for that, each `up`
 * replaces the resource; the engine deletes the replaced one at the end of a run in which nothing fails, and the delete
 * retires.
 */
export const retirement: Resource<RetirementInputs, RetirementOutputs> = {
  idInput: "subject",
  onlyId: "retirement",
  secretInputs: ["access", "credential"],
  outputs: { subject: "plain", access: "secret", credential: "secret", retires: "plain" },
  removes: "resets",
  inputs: (schemas) => {
    const isText = (given: unknown) => typeof given === "string" && given !== "";
    const isCredential = (given: unknown) => {
      const values = isObject(given) ? Object.values(given) : [given];
      return values.length > 0 && values.every(isText);
    };
    return {
      required: ["access"],
      schemas: {
        access: accessInput(schemas, ofTwoValid),
        credential: schemas.z.custom(isCredential, notGiven),
      },
    };
  },
  check,
  claims,
  plan,
  apply,
  remove,
};

function check({ access, credential }: RetirementInputs, run: Run): InputProblem[] {
  // An Output of the program that is undefined.
  if (credential === null) return [{ property: "credential", problem: notGiven }];
  if (isUnknown(access) || targetsIn(access).some((one) => mayRetire(one, run))) return [];
  return [{ property: "access", problem: `must be that of ${ofTwoValid}` }];
}

function claims({ access }: RetirementInputs): Claim[] {
  return (orUndefined(() => targetsIn(access)) ?? []).map(({ subject }) => ({
    subject: `the retirement of the ${secretOf(subject)}`,
    code: "REKEY_DUPLICATE_SECRET",
    why: "each would retire what consumers of the other one may still use. Remove one of them, and give all consumers the credential of the other one.",
  }));
}

function plan(
  saved: RetirementOutputs | undefined,
  { access, credential }: RetirementInputs,
  run: Run,
): Planned {
  const changing = ["retires"];
  if (!saved) return { changes: true, changing, notices: [] };
  const before = targetIn(saved.access);
  const after = orUndefined(() => targetIn(access));
  const ofRun = run.retirementOf(keyOf(before));
  // The credential of another secret that consumers had says nothing about this one.
  const replaced = after && keyOf(after) !== keyOf(before) ? undefined : before;
  const current = replaced?.current;
  const isWaiting = [replaced, after].some((one) => waitingOf(one).length > 0);
  if (isWaiting || (!after && ofRun.waits)) {
    ofRun.isAnnounced = current !== undefined;
    const notices = [
      ...announced(after ?? before, current, !after, run),
      ...outdated(saved, credential, after),
    ];
    return { changes: true, replaces: ["access"], changing, notices };
  }
  if (!after) {
    const notices = ofRun.waits === undefined ? say(before, { kind: "mayRetire" }) : [];
    return { changes: true, changing, notices };
  }
  run.retirementOf(keyOf(after)).stays = access;
  const isSame = access === saved.access && isSaved(credential, saved);
  const [until] = after.retire?.formers.map(validUntil) ?? [];
  const notices = until === undefined ? [] : say(after, { kind: "retiresByTime", why: until });
  return { changes: !isSame, changing: [], notices };
}

function isSaved(
  credential: RetirementInputs["credential"],
  saved: Pick<RetirementOutputs, "credential">,
): boolean {
  return isDeepStrictEqual(credential ?? undefined, saved.credential);
}

/** A warning if consumers are given what they had before the secret has changed. */
function outdated(
  saved: RetirementOutputs,
  credential: RetirementInputs["credential"],
  after: Target | undefined,
): Notice[] {
  const before = targetIn(saved.access).current;
  if (!isSet(credential) || !isSaved(credential, saved) || !before || !after?.current) return [];
  return before.mark === after.current.mark ? [] : say(after, { kind: "sameCredential" });
}

/** The announcement of what the end of this run retires. In a preview, that is the current one if none waits yet. */
function announced(of: Target, current: Target["current"], isPreview: boolean, run: Run): Notice[] {
  const { ownToken = "" } = contextOf(of.subject.kind, run);
  const [former] = waitingOf(of);
  const ends = isPreview && !former ? current : former?.credential;
  const isOwn = ends?.mark === saltedMark(of.salt, ownToken);
  const due: Finding = { kind: current ? "retiresAtEnd" : "retiresLater" };
  return say(of, due, ...(isOwn ? [{ kind: "retiresOwn" } as const] : []));
}

function say({ subject }: Target, ...findings: Finding[]): Notice[] {
  return [noticeAbout(subject, messageOf(findings, subject.kind))];
}

async function apply(
  saved: RetirementOutputs | undefined,
  { access, credential }: RetirementInputs,
  run: Run,
): Promise<Result<RetirementOutputs>> {
  const own = targetIn(access);
  const ofRun = run.retirementOf(keyOf(own));
  ofRun.stays = access;
  // A delete that came before the Create, as with `deleteBeforeReplace`, has retired nothing.
  const isLast = !saved && ofRun.isAnnounced && ofRun.deleted.length === 0;
  const times = isLast ? waitingOf(own).map(({ since }) => since) : [];
  const retires = times.toSorted().at(-1);
  return {
    outputs: { subject: "retirement", access, ...(isSet(credential) && { credential }), retires },
    notices: [],
  };
}

/** @throws RekeyError if it could not retire: the engine calls it again at the end of each `up` */
async function remove(saved: RetirementOutputs, run: Run): Promise<Notice[]> {
  const own = targetIn(saved.access);
  const { current } = own;
  const ofRun = run.retirementOf(keyOf(own));
  ofRun.deleted.push(saved.retires);
  const stays = ofRun.stays === undefined ? undefined : targetIn(ofRun.stays);
  if (!current || !stays?.current) return leftWaiting(saved, stays ?? own, ofRun.deleted);
  // Of several that are deleted at the same time, the first one retires, and each tries what it has handed out.
  const isFirst = ofRun.retired === undefined;
  ofRun.retired ??= retireFormers(stays, run);
  const retired = (await ofRun.retired) as readonly Former[];
  // A former one that is left in addition to the current one is valid for a time.
  const isGone = stays.retire
    ? retired.some(({ credential }) => credential?.mark === current.mark)
    : stays.current.mark !== current.mark;
  const isRefused = isGone && (await proveRefused(own, current, stays, run));
  if (!isFirst || retired.length === 0) return [];
  const isOnly = isRefused && retired.length === 1;
  return say(own, { kind: isOnly ? "retiredAndRefused" : "retiredAtEnd" });
}

/** The warning of a delete that retires nothing: it is a destroy, or consumers had no secret of it before. */
function leftWaiting(
  { retires }: RetirementOutputs,
  of: Target,
  deleted: readonly unknown[],
): Notice[] {
  // What the last run has announced is retired, unless the one that it has replaced is also deleted only now.
  const isOnly = deleted.length === 1;
  const isDone = isOnly && (retires !== undefined || waitingOf(of).length === 0);
  return isDone ? [] : say(of, { kind: "mayStay" });
}

/** The only one: that of a fleet is refused. */
function targetIn(access: string): Target {
  return targetsIn(access)[0] as Target;
}
