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
import { keyOf } from "../rotation/access";
import { contextOf } from "../rotation/context";
import { type Finding, messageOf } from "../rotation/findings";
import { oldestFormer, validUntil } from "../rotation/formers";
import { saltedMark } from "../rotation/marks";
import { type Former } from "../rotation/memory";
import { noticeAbout } from "../rotation/messages";
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
  const after = isUnknown(access) ? undefined : targetIn(access);
  const ofRun = run.retirementOf(keyOf(before));
  const isWaiting = [before, after].some((one) => one && waitingOf(one).length > 0);
  if (isWaiting || (!after && ofRun.waits)) {
    if (after && before.current) {
      const times = waitingOf(after).map(({ since }) => since);
      ofRun.retires = times.toSorted().at(-1);
    }
    const notices = announced(before, after, run);
    return { changes: true, replaces: ["access"], changing, notices };
  }
  if (!after) {
    const notices = ofRun.waits === undefined ? say(before, { kind: "mayRetire" }) : [];
    return { changes: true, changing, notices };
  }
  run.retirementOf(keyOf(after)).stays = access;
  const until = validUntil(oldestFormer({ formers: after.retire?.formers ?? [] }));
  return {
    changes:
      access !== saved.access || !isDeepStrictEqual(credential ?? undefined, saved.credential),
    changing: [],
    notices: until === undefined ? [] : say(after, { kind: "retiresByTime", why: until }),
  };
}

/** What the end of this run retires. */
function announced(before: Target, after: Target | undefined, run: Run): Notice[] {
  const { subject, salt, current } = before;
  const { ownToken = "" } = contextOf(subject.kind, run);
  const own = saltedMark(salt, ownToken);
  const isOther = after !== undefined && keyOf(after) !== keyOf(before);
  const waiting = waitingOf(after ?? before);
  if (isOther && waiting.length === 0) return [];
  const formers = waiting.map(({ credential }) => credential);
  const isOwn = [current, ...formers].some(
    (one) => one?.mark === own && own !== after?.current?.mark,
  );
  const due: Finding = { kind: current && !isOther ? "retiresAtEnd" : "retiresLater" };
  return say(after ?? before, due, ...(isOwn ? [{ kind: "retiresOwn" } as const] : []));
}

function say({ subject }: Target, ...findings: Finding[]): Notice[] {
  return [noticeAbout(subject, messageOf(findings, subject.kind))];
}

async function apply(
  saved: RetirementOutputs | undefined,
  { access, credential }: RetirementInputs,
  run: Run,
): Promise<Result<RetirementOutputs>> {
  const ofRun = run.retirementOf(keyOf(targetIn(access)));
  ofRun.stays = access;
  // A delete that came before the Create, as with `deleteBeforeReplace`, has retired nothing.
  const retires = saved || ofRun.deleted.length > 0 ? undefined : ofRun.retires;
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
  if (!current || !stays?.current) {
    // Of one that its run has announced, only a second one shows that its delete is not done yet.
    const { length } = ofRun.deleted;
    const isLeft = length > 1 || (!saved.retires && waitingOf(stays ?? own).length > 0);
    return isLeft ? say(own, { kind: "mayStay" }) : [];
  }
  // Several are deleted at the same time.
  const isFirst = ofRun.retired === undefined;
  ofRun.retired ??= retireFormers(stays, run);
  const retired = (await ofRun.retired) as readonly Former[];
  // What is left in addition to the current one is valid for a time.
  const isGone = stays.retire
    ? retired.some(({ credential }) => credential?.mark === current.mark)
    : stays.current.mark !== current.mark;
  const isRefused = isGone && (await proveRefused(own, current, stays, run));
  if (!isFirst || retired.length === 0) return [];
  const isOnly = isRefused && retired.length === 1;
  return say(own, { kind: isOnly ? "retiredAndRefused" : "retiredAtEnd" });
}

/** The only one: that of a fleet is refused. */
function targetIn(access: string): Target {
  return targetsIn(access)[0] as Target;
}
