import {
  outputsAreFormer,
  RefusedError,
  RekeyError,
  RequestError,
  SettingsError,
} from "../../domain/errors";
import { type SecretKind, secretOf, type Subject } from "../../domain/secretKind";
import { isUnknown } from "../../pulumi/values";
import { type Notice } from "../../resource/resource";
import { type Finding, type StateChange, type Message } from "./findings";
import { type Refusal } from "../program/plan";

type Text = Omit<Message, "about">;

/** A notice about one secret. */
export function noticeAbout(subject: Subject, message: Text): Notice {
  const { kind, id } = subject;
  return notice(secretOf(isUnknown(id) ? { kind } : subject), message);
}

/** The beginning of a text that is about the secret itself. */
const predicate = /^(is|was|may) /;

/**
 * A notice: `Resets the password of database "a", because …`, `The password of database "a" was reset.`, or `Password
 * of user "app": the former password was retired.`
 */
export function notice(secret: string, { does, text, isWarning }: Text): Notice {
  const sentence = predicate.test(text) ? `the ${secret} ${text}` : `${secret}: ${text}`;
  const line = does ? `${does} the ${secret}, ${text}` : sentence;
  return { text: line.slice(0, 1).toUpperCase() + line.slice(1), isWarning };
}

/**
 * The failure after a reset that was not confirmed. Its advice replaces that of the request.
 *
 * @param canSettle whether a read can show whether it was applied
 * @param isLast whether no other one is sent without a new version
 */
export function unknownFailure(
  { kind: { word, verb, receiverDelay } }: Subject,
  failed: RekeyError,
  canSettle: boolean,
  isLast = false,
): RekeyError {
  const advice = failed instanceof RequestError ? failed.advice : "";
  const what = failed.text.slice(0, failed.text.length - advice.length);
  const when = receiverDelay ? "once minInterval has passed" : "right away";
  const read = canSettle ? `it reads the ${word} first, and ` : "it ";
  const again = canSettle
    ? `${verb}s again only if the old credentials are still shown`
    : `${verb}s again, which returns new credentials`;
  const next = isLast
    ? `does not ${verb} again without a new version.`
    : `${again}. After three unconfirmed attempts in a row it stops and asks for a new version.`;
  const text = `${what.trim()}
${outputsAreFormer} Run \`up\` again ${when}, with rekey:scheduledResets on: ${read}${next}`;
  return new RekeyError(failed.code, text, "maybe applied");
}

/** The state of a secret that a run has made valid in addition to the current one. */
export type Addition = "handed over" | "unproven" | "lost";

const additions: Readonly<Record<Addition, string>> = {
  "handed over": "has added a new one",
  unproven: "has added a new one, which was not handed out",
  lost: "may have added a new one, which was not handed out",
};

const retirements: Partial<Readonly<Record<Finding["kind"], string>>> = {
  retired: "has retired the former one",
  retiredFirst: "has retired the older one",
};

/** The failure of a run with all that it has done: no other text of a rotation says that. */
export function failureAfter(
  subject: Subject,
  failure: RekeyError,
  { state, findings }: StateChange,
  added?: Addition,
): RekeyError {
  const retired = findings.flatMap(({ kind }) => retirements[kind] ?? []);
  const done = [...(added ? [additions[added]] : []), ...retired];
  if (done.length === 0) return failure;
  const isDone = retired.length > 0 || (added !== undefined && added !== "lost");
  const keepsAll = retired.length === 0 && added !== "handed over";
  const why =
    failure instanceof RefusedError
      ? `${failure.why}.`
      : failure instanceof RequestError
        ? `${failure.problem} ${failure.advice}`
        : failure.text;
  const text = `The rotation of the ${secretOf(subject)} is not complete: this run ${done.join(", and ")}. ${keepsAll ? "It has retired none that clients may use. " : ""}${state.memory.kindFacts.isUnsaved ? "A restart of the server undoes that until ACL SAVE succeeds. " : ""}What it could not finish is saved, and the next \`up\` does it: ${why}`;
  const isNew = isDone && failure.code !== "REKEY_VERIFICATION_FAILED";
  return new RekeyError(isNew ? "REKEY_INCOMPLETE" : failure.code, text, failure.delivery);
}

/** The failure after a roll whose response was lost, if a read shows neither the keys of before nor the next ones. */
export function overtakenFailure(subject: Subject, failed: RekeyError, why: string): RekeyError {
  const secret = secretOf(subject);
  const text = `The roll of the ${secret} was not confirmed (${why}), and a read shows another current key than the next one: someone else has rolled it, too, so this roll may have been applied before that. The keys that the read has shown are saved, and nothing is left to confirm. Give both to the receivers, which may not have them yet. A version that asked for the roll is still due once minInterval has passed; a schedule counts from now on.`;
  return new RekeyError(failed.code, text, "maybe applied");
}

export function refusalError(subject: Subject, { code, why }: Refusal): RekeyError {
  return new RefusedError(code, { secret: secretOf(subject), why });
}

/**
 * Advice that a refresh or a destroy adds, after a space, to an error that a setting or an administrator may have
 * caused: the last `up` has saved it.
 */
export function savedAdvice(
  service: SecretKind["service"],
  error: unknown,
  command: "refresh" | "destroy" = "refresh",
): string {
  if (service === undefined) {
    if (!(error instanceof RequestError)) return "";
    return " A refresh uses the admin that the last `up` saved, also with `--run-program`: if the admin has changed since then, run `up`, which uses that of the program.";
  }
  const isRejected = error instanceof RequestError && error.status === 401;
  if (!isRejected && !(error instanceof SettingsError)) return "";
  const key = service === "management" ? "rekey:password" : "rekey:queueToken";
  const setting = isRejected ? key : "a setting";
  return ` A ${command} uses the configuration that the last \`up\` saved: if ${setting} has changed since then, run \`pulumi ${command} --run-program\`, which uses the program's configuration.`;
}
