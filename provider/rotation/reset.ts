import { InternalError, RekeyError, RequestError } from "../domain/errors";
import { secretOf } from "../domain/secretKind";
import { type CredentialName } from "../records/fields";
import { jsonText } from "../pulumi/values";
import { type SecretResponse } from "../records/response";
import { type Desired, formOf, programOf, savesNone } from "./desired";
import { type BeforeReset, identityIn, type Verdict } from "./evidence";
import { tokenOnly } from "./afterRead";
import { marksOf, namesIn } from "./marks";
import { credentialsIn, type Memory, picked, type State, withForm } from "./state";
import { type Finding, type Learned, type Rotated } from "./findings";
import { unknownFailure } from "./messages";
import { maySettle, type Reset } from "./plan";
import { unconfirmedLimit } from "./planRotation";
import { type LastRead, readUntilChanged } from "./reads";
import { isOlder } from "./schedule";
import { isShown, save } from "./save";
import { type Session } from "./session";
import { secondRollAt } from "./signingKeys";

/** What is known before a reset, and what to report about it. */
export interface Before extends BeforeReset, Omit<Learned, "state"> {
  /** Whether it is saved even if the reset fails. */
  readonly isNews: boolean;
}

/**
 * Sends one reset and returns what to save. Whatever fails after it may have been made ends in a state with what was
 * delivered, and a failure that says that the secret may have changed.
 *
 * @throws RekeyError if it was not made
 */
export async function sendReset(
  before: Before,
  desired: Desired,
  due: Reset,
  session: Session,
): Promise<Rotated> {
  const { subject, run, context, evidence, replacedValues } = session;
  const { kind } = subject;
  // The credentials of before stay in the form of before.
  const unconfirmed = evidence.withPending(before, desired, due, context);
  const response = await responseToReset(before.read, session);
  try {
    replacedValues.push(credentialsIn(before.state), before.read?.credentials ?? {});
    const { state, failure, findings } = await afterReset(
      asDesired(unconfirmed, desired),
      response,
      session,
    );
    const saved = await save(failure ? withForm(state, unconfirmed.memory.form) : state, session);
    if (kind.authorizesQueue && !failure) run.platform.useQueueToken(subject.id, state.token);
    const after = failure ? [] : problemsOf(state, desired, session);
    return {
      state: saved.state,
      failure: failure ?? saved.failure,
      findings: [...findingsBefore(before, failure), ...findings, ...after, ...saved.findings],
    };
  } catch (error) {
    const delivered = response instanceof RekeyError ? {} : response.credentials;
    const failure = new InternalError({ secret: secretOf(subject), word: kind.word }, error);
    return { state: { ...unconfirmed, ...delivered }, failure, findings: [] };
  }
}

/** After a confirmed reset, a change by someone else before it does not matter any more, so it is not reported. */
function findingsBefore({ isNews, findings }: Before, failure: RekeyError | undefined): Finding[] {
  return isNews || failure ? findings.filter(({ kind }) => kind !== "adopted") : [];
}

/** The new credentials are saved, and encrypted with the URLs, as the program says. */
function asDesired(state: State, desired: Desired): State {
  const { memory } = withForm(state, formOf(desired));
  return { ...state, memory: { ...memory, ...programOf(desired) } };
}

/**
 * The response to a reset, or why it is unknown whether it was made. The reset counts against the limit of the run.
 *
 * @throws RekeyError if it was not made
 */
async function responseToReset(
  read: SecretResponse | undefined,
  { subject, run }: Session,
): Promise<SecretResponse | RekeyError> {
  const { kind, id } = subject;
  // If no read can recognize the result, the response must be certain to be that of this reset.
  const newConnection = identityIn(kind, read?.credentials ?? {}) === undefined;
  const undo = run.reserveReset(secretOf(subject));
  try {
    return await run.platform.operations(kind).reset(id, { newConnection });
  } catch (error) {
    const isKnown = error instanceof RekeyError;
    if (isKnown && (error.delivery === "not sent" || error.delivery === "rejected")) {
      undo();
      throw error;
    }
    return error instanceof RequestError
      ? error
      : new InternalError({ secret: secretOf(subject), word: kind.word }, error);
  }
}

async function afterReset(
  unconfirmed: State,
  response: SecretResponse | RekeyError,
  session: Session,
): Promise<Rotated> {
  if (response instanceof RekeyError) return afterLostResponse(unconfirmed, response, session);
  if (response.isUnattributed) return afterUnattributed(unconfirmed, response, session);
  return afterResponse(unconfirmed, response, session);
}

/** A response confirms a reset if it shows another credential than before, or if it shows none and no read does. */
async function afterResponse(
  unconfirmed: State,
  response: SecretResponse,
  session: Session,
): Promise<Rotated> {
  const { context } = session;
  const { memory } = unconfirmed;
  const verdict = verdictOn(response, memory, session);
  if (verdict === "new") return complete(unconfirmed, response, session);
  const others = withoutKnown(response, memory);
  const last: LastRead = context.canRead ? await readUntilChanged(session, memory) : {};
  if (last.read && last.verdict === "new") {
    return confirm(unconfirmed, verdict === "hidden" ? [last.read, others] : [last.read], session);
  }
  if (verdict === "hidden" && last.verdict !== "former") {
    return confirm(unconfirmed, [others], session, last);
  }
  const why = verdict === "hidden" ? "reads still show" : "its response contains";
  const state = withDelivered(unconfirmed, others);
  return { state, failure: notConfirmed(`${why} the old one`, unconfirmed, session), findings: [] };
}

/** What a response contained that may be current is kept apart from what is saved. */
function withDelivered(unconfirmed: State, { credentials }: SecretResponse): State {
  const isNone = Object.keys(credentials).length === 0;
  return isNone ? unconfirmed : { ...unconfirmed, otherFields: jsonText(credentials) };
}

/**
 * A response may show a better identity than reads do. For example, reads mask the password, so the REST token is the
 * identity that is saved, while the response to the reset shows the password: then the password decides.
 */
function verdictOn(
  { credentials }: SecretResponse,
  memory: Memory,
  { context, evidence }: Session,
): Verdict {
  const shown = marksOf(memory, credentials);
  const identity = context.kind.identities.find(
    (name) => name === memory.identity || shown[name] !== undefined,
  );
  return evidence.compare({ ...memory, identity }, shown, context);
}

/**
 * The response without the values that were known before: if it does not show the identity, they are not proven to be
 * current. For example, a response with a masked password may still contain the old REST token.
 */
function withoutKnown(response: SecretResponse, memory: Memory): SecretResponse {
  const marks = marksOf(memory, response.credentials);
  const known = [...memory.former, ...Object.values(memory.current)];
  const names = namesIn(marks).filter((name) => !known.includes(marks[name] as string));
  return { ...response, credentials: picked(response.credentials, names) };
}

/**
 * Reads once more in two cases: the response lacks a credential that was known, such as the REST token; or no value is
 * to be saved, and no read has shown yet that the new ones can be read again.
 */
async function complete(
  unconfirmed: State,
  response: SecretResponse,
  session: Session,
): Promise<Rotated> {
  const { context, evidence, reads } = session;
  const confirmed = confirm(unconfirmed, [response], session);
  const { memory } = confirmed.state;
  const isUnshown = (name: CredentialName) => !isShown(memory, name, reads);
  const isHidden = savesNone(memory.form ?? {}) && namesIn(memory.current).some(isUnshown);
  if (!context.canRead || (!isHidden && confirmed.findings.length === 0)) return confirmed;
  const last = await readUntilChanged(session, memory);
  // A read that differs from the response is outdated.
  const isSame =
    last.read &&
    evidence.compare(memory, marksOf(memory, last.read.credentials), context) === "current";
  return confirm(
    unconfirmed,
    isSame && last.read ? [response, last.read] : [response],
    session,
    last,
  );
}

/** The state after a reset that was applied. What no read could show is read by the next `up`. */
function confirm(
  unconfirmed: State,
  responses: readonly SecretResponse[],
  { context, evidence, reads, subject }: Session,
  last: LastRead = {},
): Rotated {
  const { lastSentAt = "" } = unconfirmed.memory.pending ?? {};
  const state = evidence.confirmed(unconfirmed, responses, lastSentAt, context);
  const values = credentialsIn(state);
  // What was known, or shown by a read before.
  const expected = new Set(
    [unconfirmed.memory.current, ...reads].flatMap((one) => Object.keys(one)),
  );
  const names = [...expected].filter((name) => !Object.hasOwn(values, name));
  const isIdentified = identityIn(subject.kind, values) !== undefined;
  if (names.length === 0 && (isIdentified || !context.canRead)) return { state, findings: [] };
  // Without a read, or if the last one was outdated, the next `up` reads again. If it was hidden, it stays hidden.
  const isOpen = last.verdict === undefined || last.verdict === "former";
  const memory: Memory = { ...state.memory, isUnread: (context.canRead && isOpen) || undefined };
  return { state: { ...state, memory }, findings: [{ kind: "unknown", names, why: last.why }] };
}

/** The reset stays unconfirmed, unless a read shows its result. */
async function afterLostResponse(
  unconfirmed: State,
  lost: RekeyError,
  session: Session,
): Promise<Rotated> {
  const { subject, run, context, evidence } = session;
  const canSettle = maySettle(unconfirmed.memory, context);
  const last: LastRead = canSettle ? await readUntilChanged(session, unconfirmed.memory) : {};
  const isLast = unconfirmed.memory.pending?.count === unconfirmedLimit;
  const failure = unknownFailure(subject, lost, canSettle, isLast);
  if (!last.read || last.verdict !== "new") return { state: unconfirmed, failure, findings: [] };
  // The platform's text may contain the new credentials, which only this read has shown.
  const why = run.redacted(lost instanceof RequestError ? lost.happened : "its result was lost");
  const { state, findings } = evidence.afterRead(unconfirmed, last.read, context);
  return {
    state,
    findings: findings.map((one) => (one.kind === "unknown" ? one : { ...one, why })),
    failure: state.memory.pending && failure,
  };
}

/**
 * A response without an id on a connection that has carried other requests may be another one's. What a read shows is
 * current; otherwise it is kept apart, and only a new version resets again.
 */
async function afterUnattributed(
  unconfirmed: State,
  response: SecretResponse,
  session: Session,
): Promise<Rotated> {
  const { subject, context } = session;
  const last: LastRead = context.canRead ? await readUntilChanged(session, unconfirmed.memory) : {};
  if (last.read && last.verdict === "new") {
    const name = identityIn(subject.kind, response.credentials);
    const isSame = name !== undefined && response.credentials[name] === last.read.credentials[name];
    return confirm(unconfirmed, isSame ? [response, last.read] : [last.read], session);
  }
  const { memory } = unconfirmed;
  const pending = memory.pending && { ...memory.pending, count: unconfirmedLimit };
  const state = withDelivered({ ...unconfirmed, memory: { ...memory, pending } }, response);
  const failure = notConfirmed(
    "its response has no id, so it may belong to another request, and no read shows the same credential. The secret output otherFields has what the response contained",
    state,
    session,
  );
  return { state, failure, findings: [] };
}

function notConfirmed(why: string, { memory }: State, { subject, context }: Session): RekeyError {
  const text = `The platform confirmed the reset of the ${secretOf(subject)}, but ${why}. The ${subject.kind.word} may have been changed.`;
  const error = new RekeyError("REKEY_UNCONFIRMED", text, "maybe applied");
  return unknownFailure(
    subject,
    error,
    maySettle(memory, context),
    memory.pending?.count === unconfirmedLimit,
  );
}

/** What is still wrong after a confirmed reset. */
function problemsOf(
  { memory, problems = [] }: State,
  desired: Desired,
  { context }: Session,
): Finding[] {
  const unreadable: Finding[] = problems.length > 0 ? [{ kind: "problems", names: problems }] : [];
  const known = [...unreadable, ...tokenOnly(memory.identity)];
  if (!isOlder(memory, desired.rotatedSince, context.now)) return known;
  return [...known, { kind: "older", why: secondRollAt(memory, desired, context) }];
}
