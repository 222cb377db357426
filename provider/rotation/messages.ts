import {
  outputsAreFormer,
  RefusedError,
  RekeyError,
  RequestError,
  SettingsError,
} from "../domain/errors";
import { type SecretKind, secretOf, type Subject } from "../domain/secretKind";
import { isUnknown } from "../pulumi/values";
import { type Notice } from "../resource/resource";
import { type Message } from "./findings";
import { type Refusal } from "./plan";

/** A notice about one secret. */
export function noticeAbout(subject: Subject, message: Message): Notice {
  const { noun, word, onlyId } = subject.kind;
  const isOne = onlyId === undefined;
  const secret = isUnknown(subject.id) && isOne ? `${word} of the ${noun}` : secretOf(subject);
  return notice(secret, message);
}

/** What a text begins with that is about the secret itself. */
const predicate = /^(is|was|may) /;

/**
 * A notice: `Resets the password of database "a", because …`, `The password of database "a" was reset.`, or `Password
 * of user "app": the former password was retired.`
 */
export function notice(secret: string, { does, text, isWarning }: Message): Notice {
  if (does !== undefined) return { text: `${does} the ${secret}, ${text}`, isWarning };
  if (predicate.test(text)) return { text: `The ${secret} ${text}`, isWarning };
  return { text: `${secret.slice(0, 1).toUpperCase()}${secret.slice(1)}: ${text}`, isWarning };
}

/**
 * The failure after a reset that was not confirmed. Its advice replaces that of the request.
 *
 * @param canSettle whether a read can show whether it was applied
 * @param isLast whether no other one is sent without a new version
 */
export function unknownFailure(
  { kind }: Subject,
  failed: RekeyError,
  canSettle: boolean,
  isLast = false,
): RekeyError {
  const { noun, shape } = kind;
  const advice = failed instanceof RequestError ? failed.advice : "";
  const what = failed.text.endsWith(advice)
    ? failed.text.slice(0, failed.text.length - advice.length)
    : failed.text;
  const when = shape === "rolls" ? "once minInterval has passed" : "right away";
  const text = `${what.trim()}
${outputsAreFormer} Run \`up\` again ${when}, with rekey:scheduledResets on: ${nextStep(noun, canSettle, isLast)}`;
  return new RekeyError(failed.code, text, "maybe applied");
}

/** The failure after a roll whose response was lost, if a read shows neither the keys of before nor the next ones. */
export function overtakenFailure(subject: Subject, failed: RekeyError, why: string): RekeyError {
  const secret = secretOf(subject);
  const text = `The roll of the ${secret} was not confirmed (${why}), and a read shows another current key than the next one: someone else has rolled it, too, so this roll may have been applied before that. The keys that the read has shown are saved, and nothing is left to confirm. Give both to the receivers, which may not have them yet. A version that asked for the roll is still due once minInterval has passed; a schedule counts from now on.`;
  return new RekeyError(failed.code, text, "maybe applied");
}

function nextStep(noun: string, canSettle: boolean, isLast: boolean): string {
  const read = canSettle ? `it reads the ${noun} first, and ` : "it ";
  if (isLast) return `${read}does not reset again without a new version.`;
  const stop = "After three unconfirmed resets in a row it stops and asks for a new version.";
  if (canSettle) return `${read}resets again only if the old credentials are still shown. ${stop}`;
  return `${read}resets again, which returns new credentials. ${stop}`;
}

export function refusalError(subject: Subject, { code, why }: Refusal): RekeyError {
  return new RefusedError(code, { secret: secretOf(subject), why });
}

/** What a refresh or a destroy adds, after a space, to what a setting may have caused: the last `up` has saved it. */
export function savedKeyAdvice(
  service: SecretKind["service"],
  error: unknown,
  command: "refresh" | "destroy" = "refresh",
): string {
  const isRejected = error instanceof RequestError && error.status === 401;
  if (!isRejected && !(error instanceof SettingsError)) return "";
  const key = service === "management" ? "rekey:password" : "rekey:queueToken";
  const setting = isRejected ? key : "a setting";
  return ` A ${command} uses the configuration that the last \`up\` saved: if ${setting} has changed since then, run \`pulumi ${command} --run-program\`, which uses the program's configuration.`;
}

/** The same of a user, whose administrator the last `up` has saved. A refresh that runs the program uses it, too. */
export function savedAdminAdvice(error: unknown): string {
  if (!(error instanceof RequestError)) return "";
  return " A refresh uses the admin that the last `up` saved, also with `--run-program`: if the admin has changed since then, run `up`, which uses that of the program.";
}
