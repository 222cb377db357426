import { type Delivery } from "./retry";

/**
 * The root of every error that leaves the provider. Its message says what happened, whether the password may have
 * changed, and what to do. It never holds a request, an answer or their headers, which carry secrets.
 */
export abstract class RekeyError extends Error {
  /** What became of the request that failed; `not sent` where it never came to one. */
  abstract readonly delivery: Delivery;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** An input that cannot be used. Nothing was sent. */
export class InputError extends RekeyError {
  readonly delivery = "not sent";

  constructor(
    /** The input that is wrong. */
    readonly property: string,
    readonly reason: string,
    readonly advice = "Correct it, then run again.",
  ) {
    super(`${property} ${reason}. Nothing was sent. ${advice}`);
  }
}

/** A setting that is missing or cannot be used. Nothing was sent. */
export class SettingsError extends RekeyError {
  readonly delivery = "not sent";

  constructor(
    /** The setting and what is wrong with it. */
    readonly problem: string,
    readonly advice: string,
  ) {
    super(`${problem}. Nothing was sent, and nothing was changed. ${advice}`);
  }
}

/** Rekey itself refuses to send a reset. Nothing was sent. */
export class RefusedError extends RekeyError {
  readonly delivery = "not sent";

  constructor(databaseId: string, why: string) {
    super(`The password of database ${JSON.stringify(databaseId)} was not reset, and nothing was sent: ${why}.`);
  }
}

/** The request that an error tells of, in words that may be shown. */
export interface RequestFacts {
  /** What it was to do: `reset the password of database "x"`. */
  readonly purpose: string;
  readonly method: string;
  /** Address without credentials or query. */
  readonly url: string;
  /** What may have changed at the platform, for each kind of delivery. */
  readonly consequences: Readonly<Record<Exclude<Delivery, "answered">, string>>;
}

/** A request that was not answered as it should have been. */
export abstract class RequestError extends RekeyError {
  readonly method: string;
  readonly url: string;

  constructor(
    request: RequestFacts,
    /** What was seen, in words that may be shown. */
    readonly happened: string,
    consequence: string,
    /** What to do next. */
    readonly advice: string,
    /** Status of the answer, where there was one. */
    readonly status?: number,
    /** Code of the failure, where there was no answer. */
    readonly code?: string,
  ) {
    super(`Could not ${request.purpose}: ${happened} (${request.method} ${request.url}). ${consequence} ${advice}`);
    this.method = request.method;
    this.url = request.url;
  }
}

/** The request cannot have arrived: nothing has changed. */
export class NotSentError extends RequestError {
  readonly delivery = "not sent";

  constructor(request: RequestFacts, happened: string, advice: string, code?: string) {
    super(request, happened, request.consequences["not sent"], advice, undefined, code);
  }
}

/** The platform refused the request: nothing has changed. */
export class RejectedError extends RequestError {
  readonly delivery = "rejected";

  constructor(
    request: RequestFacts,
    happened: string,
    advice: string,
    status: number,
    /** Whether the refusal was written in JSON: the platform's own word, not that of something on the way. */
    readonly inJson: boolean,
  ) {
    super(request, happened, request.consequences.rejected, advice, status);
  }
}

/** Nobody knows whether the platform did what it was asked. */
export class UnconfirmedError extends RequestError {
  readonly delivery = "maybe applied";

  constructor(request: RequestFacts, happened: string, advice: string, status?: number, code?: string) {
    super(request, happened, request.consequences["maybe applied"], advice, status, code);
  }
}

/** The platform answered a question in a way that cannot be read. */
export class UnreadableError extends RequestError {
  readonly delivery = "answered";

  constructor(request: RequestFacts, happened: string, status: number) {
    super(request, happened, "Nothing was changed.", "Check rekey:queueUrl.", status);
  }
}
