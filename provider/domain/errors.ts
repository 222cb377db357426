import { secretOf, type Subject } from "./secretKind";

/**
 * The delivery of a request to the platform:
 * - `not sent`: it cannot have reached the platform;
 * - `rejected`: the platform rejected it;
 * - `maybe applied`: it may have reached the platform, and the result is unknown;
 * - `responded`: the platform responded with 2xx.
 */
export type Delivery = "not sent" | "rejected" | "maybe applied" | "responded";

/** The codes at the end of Rekey's error messages. docs/errors.md explains each of them. */
export const errorCodes = [
  "REKEY_INPUT_INVALID",
  "REKEY_DUPLICATE_SECRET",
  "REKEY_DUPLICATE_KEY",
  "REKEY_IMPORT_UNSUPPORTED",
  "REKEY_SETTING_MISSING",
  "REKEY_SETTING_INVALID",
  "REKEY_NOT_INSTALLED",
  "REKEY_OTHER_VERSION",
  "REKEY_PULUMI_TOO_OLD",
  "REKEY_NODE_TOO_OLD",
  "REKEY_NOT_SENT",
  "REKEY_NOT_READ",
  "REKEY_ENGINE_GONE",
  "REKEY_REJECTED",
  "REKEY_UNCONFIRMED",
  "REKEY_INCOMPLETE",
  "REKEY_REPEATEDLY_UNCONFIRMED",
  "REKEY_ROLLED_RECENTLY",
  "REKEY_QUEUE_TOKEN_IN_USE",
  "REKEY_OTHER_ACCOUNT",
  "REKEY_UNREADABLE_RESPONSE",
  "REKEY_NOT_SHOWN",
  "REKEY_NOT_SAVED",
  "REKEY_NOT_ENCRYPTED",
  "REKEY_RESET_LIMIT",
  "REKEY_STATE_UNREADABLE",
  "REKEY_FLEET_INCOMPLETE",
  "REKEY_VERIFICATION_FAILED",
  "REKEY_INTERNAL",
] as const;

/** The code of an error, which never changes. */
export type ErrorCode = (typeof errorCodes)[number];

export function withCode(message: string, code: ErrorCode): string {
  return `${message} [${code}]`;
}

/**
 * The base class of Rekey's errors. The message says what happened, whether the password may have changed, and what to
 * do, and ends with the code. It never contains a request, a response or a header.
 *
 * @example
 * ```ts
 * const keys = await getFlowControlKeys().catch((error) => {
 *   if (error instanceof RekeyError && error.code === "REKEY_NOT_SENT") return [];
 *   throw error;
 * });
 * ```
 */
export class RekeyError extends Error {
  constructor(
    /** Identifies the kind of error. It never changes, unlike the message. */
    readonly code: ErrorCode,
    /** The message without its code. */
    readonly text: string,
    /** The delivery of the failed request; `not sent` if there was no request. */
    readonly delivery: Delivery,
  ) {
    super(withCode(text, code));
    this.name = new.target.name;
  }
}

/** The end of an error that is found when a reset may have been sent already. */
export const resetsAreSaved =
  "Fix this, then run again. A reset that was already sent is saved with its new password and is not repeated.";

/** After a failed `up`, the stack has new outputs only as far as the program returned them. */
export const outputsAreFormer =
  "Until an `up` succeeds, `pulumi stack output` may show old values that no longer work: do not use them.";

/** An input that cannot be used. */
export class InputError extends RekeyError {
  constructor(
    /** The name of the input. */
    readonly property: string,
    /** The problem with it. */
    readonly reason: string,
    /** `of` is what has the input: `PasswordRotation "sessions"`. After a reset, the error does not deny it. */
    { of, afterReset = false }: { readonly of?: string; readonly afterReset?: boolean } = {},
  ) {
    const advice = afterReset ? resetsAreSaved : "No request was made. Fix it, then run again.";
    super(
      "REKEY_INPUT_INVALID",
      `${of === undefined ? "" : `${of}: `}${property} ${reason}. ${advice}`,
      "not sent",
    );
  }
}

/** A saved state that is damaged, or of another version. No request was made. */
export class StateError extends RekeyError {
  constructor({
    output,
    reason,
    advice,
  }: Readonly<Record<"output" | "reason" | "advice", string>>) {
    const text = `The saved output ${output} ${reason}. No request was made. ${advice}`;
    super("REKEY_STATE_UNREADABLE", text, "not sent");
  }
}

/** A setting that is missing or cannot be used. No request was made. */
export class SettingsError extends RekeyError {
  /** The setting and what is wrong with it. */
  readonly problem: string;
  /** The action to take. */
  readonly advice: string;

  constructor(code: ErrorCode, { problem, advice }: Pick<SettingsError, "problem" | "advice">) {
    super(code, `${problem}. No request was made, and nothing was changed. ${advice}`, "not sent");
    this.problem = problem;
    this.advice = advice;
  }
}

/** Rekey itself refuses to send a reset. No request was made. */
export class RefusedError extends RekeyError {
  readonly why: string;

  constructor(code: ErrorCode, { secret, why }: Readonly<Record<"secret" | "why", string>>) {
    super(code, `The ${secret} was not rotated, and nothing was changed: ${why}.`, "not sent");
    this.why = why;
  }
}

/** Facts about the request of an error. They may be shown. */
export interface RequestFacts {
  /** The purpose of the request: `reset the password of database "x"`. */
  readonly purpose: string;
  /** HTTP method. */
  readonly method: string;
  /** Address without credentials or query. */
  readonly url: string;
  /** Statements on the platform's state: if nothing was changed, and if that is unknown. Default: the same. */
  readonly consequences: { readonly unchanged: string; readonly unknown?: string };
  /** Things to check, in addition to the address, if the platform does not know what was requested. */
  readonly toCheck?: readonly string[] | undefined;
}

/** The part of an error that says what went wrong. */
export interface RequestProblem
  extends
    Pick<RequestError, "happened" | "advice">,
    Partial<Pick<RequestError, "code" | "status" | "words">> {}

const codes = {
  "not sent": "REKEY_NOT_SENT",
  rejected: "REKEY_REJECTED",
  "maybe applied": "REKEY_UNCONFIRMED",
  responded: "REKEY_UNREADABLE_RESPONSE",
} as const satisfies Readonly<Record<Delivery, ErrorCode>>;

/** A request that failed, or the response to a read that could not be understood. */
export class RequestError extends RekeyError {
  /** HTTP method. */
  readonly method: string;
  /** Address without credentials or query. */
  readonly url: string;
  /** The failure that happened. It may be shown. */
  readonly happened: string;
  /** The action to take next. */
  readonly advice: string;
  /** Status of the response, if there was one. */
  readonly status?: number | undefined;
  /** The action that failed, and what happened, without what that means. */
  readonly problem: string;
  /** The platform's own words, without secrets; undefined if the response is not a JSON object, as that of a proxy. */
  readonly words?: string | undefined;

  constructor(
    delivery: Delivery,
    { purpose, method, url, consequences }: RequestFacts,
    problem: RequestProblem,
  ) {
    const { code = codes[delivery], happened, advice, status, words } = problem;
    const { unchanged, unknown = unchanged } = consequences;
    const consequence = delivery === "maybe applied" ? unknown : unchanged;
    const failed = `Could not ${purpose}: ${happened} (${method} ${url}).`;
    super(code, `${failed} ${consequence} ${advice}`, delivery);
    this.problem = failed;
    this.method = method;
    this.url = url;
    this.happened = happened;
    this.advice = advice;
    this.status = status;
    this.words = words;
  }
}

/** The platform confirmed a change of a flow-control key, but does not show it. */
export class NotShownError extends RekeyError {
  /** @param why what is not shown, or why the key could not be read */
  constructor(flowControlKey: string, why: string) {
    const text = `The platform confirmed the change to flow-control key ${JSON.stringify(flowControlKey)}, but ${why}. What was sent is saved. Check the key at the platform, then refresh and run again: only the remaining differences are sent.`;
    super("REKEY_NOT_SHOWN", text, "maybe applied");
  }
}

/** Credentials could not be encrypted. They are saved in the state instead. */
export class NotEncryptedError extends RekeyError {
  /** @param thrown of which only the kind and place are shown */
  constructor({ secret }: { readonly secret: string }, thrown: unknown) {
    const text = `The ${secret} could not be encrypted for encryptFor${whereThrown(thrown)}. Its current credentials are saved in the state, as secrets. Check the recipients and the installation of age-encryption, then set a new version: it resets the secret, and the new credentials are encrypted.`;
    super("REKEY_NOT_ENCRYPTED", text, "responded");
  }
}

/** A bug around a reset. Only its kind and place are shown: the text of what was thrown may contain credentials. */
export class InternalError extends RekeyError {
  constructor(subject: Subject, thrown: unknown) {
    const { word, verb } = subject.kind;
    const text = `Could not ${verb} the ${secretOf(subject)}: pulumi-rekey failed unexpectedly${whereThrown(thrown)}. The ${word} may have been changed. What the platform returned is saved, as far as Rekey understood it. This is a bug: please report it, then run again.`;
    super("REKEY_INTERNAL", text, "maybe applied");
  }
}

/** The error that was thrown, ` (TypeError at send (http.js:1:2))`, without its text, which may contain credentials. */
function whereThrown(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "";
  const { name, message, stack = "" } = thrown;
  // The first frame, if it can be told apart from the message.
  const start = stack.indexOf(`${message}\n`);
  const [, frame = ""] =
    (start < 0 ? null : /^\n *( at .*)/.exec(stack.slice(start + message.length))) ?? [];
  return ` (${name}${frame})`;
}
