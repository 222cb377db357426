import { InternalError, RekeyError, RequestError } from "../../../domain/errors";
import { secretOf } from "../../../domain/secretKind";
import { type CredentialName, type Credentials, valuesOf } from "../../../records/fields";
import { type SecretResponse } from "../../../records/secretResponse";
import { compare, identityIn, type Verdict } from "../../plan/compare";
import { type Finding, type StateChange } from "../../messages/findings";
import { afterRead } from "../../lifecycle/afterRead";
import {
  formerOf,
  handOver,
  type Made,
  madeCredentials,
  withAttemptFacts,
} from "../../lifecycle/handOver";
import { marksOf, namesIn } from "../../memory/marks";
import { type Memory } from "../../memory/memory";
import { overtakenFailure, unknownFailure } from "../../messages/messages";
import { maySettle } from "../../program/plan";
import { unconfirmedLimit } from "../../plan/planRotation";
import { savesNone } from "../../program/program";
import { type LastRead, readUntilChanged } from "./reads";
import { isShown } from "../../lifecycle/save";
import { pastTime } from "../../memory/schedule";
import {
  type Added,
  type Proof,
  type ReadResult,
  type Source,
  type SourceContext,
} from "../../lifecycle/source";
import { type AttemptedState, credentialsIn, picked, type State } from "../../memory/state";

/** A platform where one request makes a new secret and retires the former one, or rolls a pair of keys. */
export class ResetSource implements Source {
  constructor(protected readonly session: SourceContext) {}

  async read(saved: State | undefined): Promise<ReadResult> {
    const { run, subject, reads } = this.session;
    const operations = run.platform.operations(subject.kind);
    run.platform.secrets.add(valuesOf(credentialsIn(saved)));
    const response = await operations.read(subject.id);
    reads.push(response.credentials);
    return response;
  }

  afterRead(saved: State, readResult: ReadResult): StateChange {
    return afterRead(saved, readResult, this.session.context);
  }

  async add(_: AttemptedState, readResult: ReadResult | undefined): Promise<Added> {
    const { run, subject } = this.session;
    const { kind, id } = subject;
    const operations = run.platform.operations(kind);
    // If no read can recognize the result, the response must be certain to be that of this reset.
    const newConnection = identityIn(kind, readResult?.credentials ?? {}) === undefined;
    try {
      const response = await operations.reset(id, { newConnection });
      return { response };
    } catch (error) {
      const isKnown = error instanceof RekeyError;
      if (isKnown && (error.delivery === "not sent" || error.delivery === "rejected")) throw error;
      const lost = error instanceof RequestError ? error : new InternalError(subject, error);
      return { lost };
    }
  }

  /** A response is evidence of its own, which may be better than a read. */
  async prove(attempted: AttemptedState, { response, lost }: Added): Promise<Proof> {
    if (!response) return this.#afterLostResponse(attempted, lost);
    if (response.isUnattributed) return this.#afterUnattributed(attempted, response);
    const { context } = this.session;
    const { memory } = attempted;
    const verdict = this.#verdictOn(response, memory);
    if (verdict === "new") return this.#complete(attempted, response);
    if (verdict === "foreign") {
      const proof = await this.#complete(attempted, response);
      return { ...proof, findings: [...proof.findings, { kind: "overtaken" }] };
    }
    const others = withoutKnown(response, memory);
    const last: LastRead = context.canRead ? await readUntilChanged(this.session, memory) : {};
    if (last.read && isReplaced(last.verdict)) {
      return this.#made(attempted, verdict === "hidden" ? [last.read, others] : [last.read]);
    }
    if (verdict === "hidden" && !last.isOld) {
      return this.#made(attempted, [others], last);
    }
    const why = verdict === "hidden" ? "reads still show" : "its response contains";
    return this.#doubtful(`${why} the old one`, attempted, others.credentials);
  }

  /**
   * A response may show a better identity than reads do. For example, reads mask the password, so the REST token is the
   * identity that is saved, while the response to the reset shows the password: then the password decides.
   */
  #verdictOn({ credentials }: SecretResponse, memory: Memory): Verdict {
    const { kind } = this.session.subject;
    const shown = marksOf(memory, credentials);
    const identity = kind.identities.find(
      (name) => name === memory.current.identity || shown[name] !== undefined,
    );
    return compare({ ...memory, current: { ...memory.current, identity } }, shown, kind);
  }

  /**
   * Reads once more in two cases: the response lacks a credential that was known, such as the REST token; or no value
   * is to be saved, and no read has shown yet that the new ones can be read again.
   */
  async #complete(attempted: AttemptedState, response: SecretResponse): Promise<Proven> {
    const { context, reads } = this.session;
    const confirmed = this.#made(attempted, [response]);
    if (!context.canRead) return confirmed;
    const { memory } = handOver(attempted, confirmed.made, context);
    const isUnshown = (name: CredentialName) => !isShown(memory, name, reads);
    const { form = {}, marks } = memory.current;
    const isHidden = savesNone(form) && namesIn(marks).some(isUnshown);
    if (!isHidden && confirmed.findings.length === 0) return confirmed;
    const last = await readUntilChanged(this.session, memory);
    // A read that differs from the response is outdated.
    const isSame = last.read && last.verdict === "unchanged";
    return this.#made(attempted, isSame && last.read ? [response, last.read] : [response], last);
  }

  /** A reset that was applied. What no read could show is read by the next `up`. */
  #made(
    attempted: AttemptedState,
    responses: readonly SecretResponse[],
    last: LastRead = {},
    generatedAt = attempted.memory.attempt.lastSentAt,
  ): Proven {
    const { context, reads, subject } = this.session;
    const { memory } = attempted;
    const made: Made = {
      responses,
      generatedAt,
      formers: [formerOf(attempted, memory.attempt.lastSentAt, context)],
    };
    const { values } = madeCredentials(attempted, made);
    // Credentials that were known, or shown by a read before.
    const expected = new Set([memory.current.marks, ...reads].flatMap((one) => Object.keys(one)));
    const names = [...expected].filter((name) => !Object.hasOwn(values, name));
    const isIdentified = identityIn(subject.kind, values) !== undefined;
    if (names.length === 0 && (isIdentified || !context.canRead)) return { made, findings: [] };
    // Without a read, or if the last one was outdated, the next `up` reads again. If it was hidden, it stays hidden.
    const isOpen = last.verdict === undefined || last.isOld;
    const mustRead = (context.canRead && isOpen) || undefined;
    const finding: Finding = { kind: "unknown", names, why: last.why };
    return { made: { ...made, mustRead }, findings: [finding] };
  }

  /** The reset stays unconfirmed, unless a read shows its result. */
  async #afterLostResponse(attempted: AttemptedState, lost: RekeyError): Promise<Proof> {
    const { subject, run, context } = this.session;
    const { memory } = attempted;
    const canSettle = maySettle(memory, context);
    const last: LastRead = canSettle ? await readUntilChanged(this.session, memory) : {};
    // The platform's text may contain the new credentials, which only this read has shown.
    const why = run.redacted(lost instanceof RequestError ? lost.happened : "its result was lost");
    if (last.verdict === "foreign") {
      return {
        failure: overtakenFailure(subject, lost, why),
        delivered: {},
        foreignRead: last.read,
      };
    }
    if (!last.read || last.verdict !== "new") {
      return { failure: this.#unconfirmed(lost, attempted), delivered: {} };
    }
    // Of several in a row, the first one may be the one that was applied.
    const generatedAt = pastTime(memory.attempt.firstSentAt, context.now);
    const proof = this.#made(attempted, [last.read], last, generatedAt);
    return { ...proof, findings: [{ kind: "settled", why }, ...proof.findings] };
  }

  /**
   * A response without an id on a connection that has carried other requests may be another one's. What a read shows is
   * current, and so is the response if both show the same; otherwise it is kept apart, and only a new version resets
   * again.
   */
  async #afterUnattributed(attempted: AttemptedState, response: SecretResponse): Promise<Proof> {
    const { context } = this.session;
    const { memory } = attempted;
    const last: LastRead = context.canRead ? await readUntilChanged(this.session, memory) : {};
    if (last.read && isSameRecord(response, last.read, memory)) {
      return this.#made(attempted, [response, last.read]);
    }
    if (last.read && isReplaced(last.verdict)) return this.#made(attempted, [last.read]);
    const attempt = { count: unconfirmedLimit };
    const why =
      "its response has no id, so it may belong to another request, and no read shows the same credential. The secret output otherFields has what the response contained";
    const proof = this.#doubtful(why, withAttemptFacts(attempted, attempt), response.credentials);
    return { ...proof, attempt };
  }

  /** A reset that the platform has confirmed, and that is not certain. */
  #doubtful(why: string, attempted: AttemptedState, delivered: Credentials) {
    const { subject } = this.session;
    const text = `The platform confirmed the reset of the ${secretOf(subject)}, but ${why}. The ${subject.kind.word} may have been changed.`;
    const error = new RekeyError("REKEY_UNCONFIRMED", text, "maybe applied");
    return { failure: this.#unconfirmed(error, attempted), delivered };
  }

  #unconfirmed(error: RekeyError, { memory }: AttemptedState): RekeyError {
    const { subject, context } = this.session;
    const isLast = memory.attempt.count === unconfirmedLimit;
    return unknownFailure(subject, error, maySettle(memory, context), isLast);
  }
}

type Proven = Extract<Proof, { made: Made }>;

/** True if a read shows what the reset has made, or someone else after it. */
function isReplaced(verdict: Verdict | undefined): boolean {
  return verdict === "new" || verdict === "foreign";
}

/** True if all credentials that both show are the same, and one of them was not known before. */
function isSameRecord(
  response: SecretResponse,
  { credentials: shown }: SecretResponse,
  memory: Memory,
): boolean {
  const { credentials: unknown } = withoutKnown(response, memory);
  const both = namesIn(response.credentials).filter((name) => shown[name] !== undefined);
  return (
    both.some((name) => unknown[name] !== undefined) &&
    both.every((name) => response.credentials[name] === shown[name])
  );
}

/**
 * The response without the values that were known before: if it does not show the identity, they are not proven to be
 * current. For example, a response with a masked password may still contain the old REST token.
 */
function withoutKnown(response: SecretResponse, memory: Memory): SecretResponse {
  const marks = marksOf(memory, response.credentials);
  const known = [...memory.past, ...Object.values(memory.current.marks)];
  const names = namesIn(marks).filter((name) => !known.includes(marks[name] as string));
  return { ...response, credentials: picked(response.credentials, names) };
}
