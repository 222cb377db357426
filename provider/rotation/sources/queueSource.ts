import { hashOf } from "../../clients/aclReplies";
import { type ProbeResult } from "../../clients/probe";
import { type ProbeEndpoint } from "../../domain/endpoint";
import { type ErrorCode, RefusedError, RekeyError, RequestError } from "../../domain/errors";
import { queueToken, secretOf } from "../../domain/secretKind";
import { type Credentials, isObject, orUndefined } from "../../records/fields";
import { onlyCredentials, type SecretResponse } from "../../records/secretResponse";
import { formerWith, validFormers } from "../program/formers";
import { formerOf, valuesIn } from "../lifecycle/handOver";
import { saltedMark } from "../memory/marks";
import { type Former, parsed } from "../memory/memory";
import { endpointFor, lateTokenMs, notAccepted, proveAccepted } from "./proof";
import { ResetSource } from "./reset/resetSource";
import {
  type Added,
  type Proof,
  type RetirableMemory,
  type Retired,
  type ReadResult,
} from "../lifecycle/source";
import { type AttemptedState, type State } from "../memory/state";

/**
 * A user of the queue. The platform accepts the current and the next token; a roll makes the next one the current one.
 * Clients are given the next one, so for Rekey the platform's current token is the former one until it is rolled. With
 * `overlap: "none"`, one request replaces both.
 */
export class QueueSource extends ResetSource {
  override async read(saved: State | undefined): Promise<ReadResult> {
    this.session.run.options.settings.get("queueUserId");
    const user = await this.#readUser();
    return saved && (await this.#isRefused(saved, user)) ? { ...user, goneReason } : user;
  }

  /** While two are valid, no read shows the one that was handed out: only its use does, if its value is saved. */
  async #isRefused({ memory, token }: State, { credentials }: ReadResult): Promise<boolean> {
    const shown = saltedMark(memory.salt, credentials.token ?? "");
    return formerWith(memory, shown) !== undefined && (await this.#isTried(token, "refused"));
  }

  /** True if the use of a token that was made before has a result; false if it cannot be tried. */
  async #isTried(token: string | undefined, expected: ProbeResult["kind"]): Promise<boolean> {
    const canTry = token !== undefined && orUndefined(() => this.#endpoint()) !== undefined;
    return canTry && (await this.#proveAccepted(token, lateTokenMs)).kind === expected;
  }

  requireSettings(): void {
    const { program } = this.session;
    if (program?.adds && !program.unknown.has("queueUrl")) this.#endpoint();
  }

  /** Where a token is tried. @throws SettingsError if that is not set */
  #endpoint(): ProbeEndpoint {
    const { run, place, subject } = this.session;
    return endpointFor(subject, place, run.options.settings);
  }

  override async add(
    attempted: AttemptedState,
    readResult: ReadResult | undefined,
  ): Promise<Added> {
    if (!attempted.memory.attempt.adds) return super.add(attempted, readResult);
    try {
      return await this.#addNext(attempted, readResult);
    } catch (error) {
      if (!(error instanceof RekeyError) || error.delivery !== "maybe applied") throw error;
      return { lost: error };
    }
  }

  async #addNext({ memory }: AttemptedState, readResult: ReadResult | undefined): Promise<Added> {
    const { attempt } = memory;
    const { count } = attempt;
    // A next pair that no attempt of Rekey has made may be of any age.
    const isPrepared = readResult?.hasNext === true && count === 1;
    const next = await this.#prepare(isPrepared, readResult);
    if (next.token === readResult?.credentials.token) throw this.#sameToken(isPrepared);
    const expects = saltedMark(memory.salt, next.token ?? "");
    if (expects === memory.current.marks.token) {
      const why = `the token that was handed out is still the platform's next one. If the queue refuses it, check ${addressFrom}. Otherwise, run \`up\` again`;
      throw this.#refuse(why, "REKEY_VERIFICATION_FAILED");
    }
    const isRemembered = count > 1 && [undefined, expects].includes(attempt.expects);
    const ofNew = {
      firstSentAt: attempt.lastSentAt,
      isOfUnknownAge: readResult?.hasNext || undefined,
    };
    return {
      response: onlyCredentials(next),
      attempt: { ...(!isRemembered && ofNew), expects },
    };
  }

  override async prove(attempted: AttemptedState, added: Added): Promise<Proof> {
    const { program, subject, run, context } = this.session;
    const { attempt } = attempted.memory;
    if (!program || !attempt.adds) {
      const proof = await super.prove(attempted, added);
      if (proof.made) {
        run.platform.useQueueToken(subject.id, valuesIn(proof.made.responses).token);
      }
      return proof;
    }
    const { response, lost } = added;
    if (!response) return { failure: lost, delivered: {} };
    const { token = "" } = response.credentials;
    const proof = await this.#proveAccepted(token);
    // Until it is rolled, the platform returns the same one.
    if (proof.kind !== "accepted") return { failure: notAccepted(subject, proof), delivered: {} };
    const { isOfUnknownAge, firstSentAt } = attempt;
    const replaced = formerOf(attempted, context.now.toISOString(), context, hashOf(token));
    // If the current one is gone, the platform still has the one before it.
    const [{ credential, since, generatedAt } = replaced] = validFormers(attempted.memory);
    return {
      made: {
        responses: [response],
        generatedAt: isOfUnknownAge ? undefined : firstSentAt,
        formers: [{ ...replaced, credential, since, generatedAt }],
      },
      findings: isOfUnknownAge ? [{ kind: "unknownAge" }] : [],
    };
  }

  #proveAccepted(token: string, lateMs?: number): Promise<ProbeResult> {
    const credential = { name: "token", value: token } as const;
    return proveAccepted(this.session, this.#endpoint(), credential, lateMs);
  }

  async retire(formers: readonly Former[], memory: RetirableMemory): Promise<Retired> {
    const { run, subject } = this.session;
    const [former] = formers;
    const hash = former?.retireHash ?? "";
    const user = await this.#readUser();
    const isRolled = isToken(user, hash);
    if (!isRolled) this.#refuseOwn(user, former, memory.salt);
    if (!isRolled) await this.#roll(hash, former, memory);
    // The token of the platform has changed: it is read when it is needed.
    run.platform.useQueueToken(subject.id, undefined);
    return { result: isRolled ? "already" : "now", left: [] };
  }

  /**
   * An error is followed by a read. After a 409, there is no such pair: someone else has rolled it, if the platform
   * shows another token than the former one, or hides it while the current one is accepted.
   */
  async #roll(
    hash: string,
    former: Former | undefined,
    { salt, current }: RetirableMemory,
  ): Promise<void> {
    const { run, subject } = this.session;
    try {
      await run.platform.nextTokens.roll(subject.id, hash);
    } catch (error) {
      if (!(error instanceof RequestError) || error.delivery === "not sent") throw error;
      const after = await this.#readUser().catch(() => undefined);
      if (!after) throw error;
      if (isToken(after, hash)) return;
      const { token } = after.credentials;
      const isRolled =
        error.status === 409 &&
        (token === undefined
          ? await this.#isTried(current, "accepted")
          : saltedMark(salt, token) !== former?.credential?.mark);
      if (!isRolled) throw error;
    }
  }

  async #readUser(): Promise<ReadResult> {
    const { run, subject, reads } = this.session;
    const operations = run.platform.operations(subject.kind);
    const user = await operations.read(subject.id, { newConnection: true });
    reads.push(user.credentials);
    return { ...user, hasNext: hasNext(user) };
  }

  /** @param isPrepared whether there is a pair of unknown age already */
  async #prepare(isPrepared: boolean, readResult?: ReadResult): Promise<Credentials> {
    const { run, subject } = this.session;
    try {
      return await run.platform.nextTokens.prepare(subject.id);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { status = 0, method, url } = error;
      if ([404, 405].includes(status)) {
        const why = `the platform has no operation that prepares a next token (${status} for ${method} ${url}). Set \`overlap: "none"\`, which replaces the token at once: clients are refused until they have the new one`;
        throw this.#refuse(why, "REKEY_REJECTED");
      }
      if (error.delivery !== "maybe applied") throw error;
      return this.#prepareAgain(error, isPrepared, readResult);
    }
  }

  /** The response was lost. If a read shows that the pair was made, the same one is asked for once more. */
  async #prepareAgain(
    lost: RequestError,
    isPrepared: boolean,
    before?: ReadResult,
  ): Promise<Credentials> {
    const { run, subject } = this.session;
    const user = await this.#readUser().catch(() => undefined);
    const refuse = (why: string) => this.#refuse(`${lost.happened}, and ${why}. Run \`up\` again`);
    // If someone has rolled the pair meanwhile, it may be the current one.
    const isRolled = user && user.credentials.token !== before?.credentials.token;
    if (user && !user.hasNext) throw isRolled ? lost : refuse("a read shows no next token");
    try {
      if (user) return await run.platform.nextTokens.prepare(subject.id);
    } catch {
      // The first one may have been applied.
    }
    throw isPrepared ? refuse("the next token existed before") : lost;
  }

  /** Other processes use it, too, and would fail. */
  #refuseOwn({ credentials }: SecretResponse, former: Former | undefined, salt: string): void {
    const { context, subject } = this.session;
    const { ownToken } = context;
    if (ownToken === undefined) return;
    const isShown = [credentials.token, credentials.readOnlyToken].includes(ownToken);
    if (!isShown && saltedMark(salt, ownToken) !== former?.credential?.mark) return;
    const text = `The former ${secretOf(subject)} was not retired: it is rekey:queueToken, which this run and others use. Both tokens stay valid. Set rekey:queueToken to the new one (output token), or set rekey:queueUserId instead, then run again.`;
    throw new RekeyError("REKEY_QUEUE_TOKEN_IN_USE", text, "not sent");
  }

  #refuse(why: string, code: ErrorCode = "REKEY_UNCONFIRMED"): RefusedError {
    return new RefusedError(code, { secret: secretOf(this.session.subject), why });
  }

  #sameToken(isPrepared: boolean): RekeyError {
    const why = "the platform returned the current token as the next one. Run `up` again";
    // Otherwise, the request has made a next one, which the next `up` takes for its own.
    return isPrepared
      ? this.#refuse(why)
      : new RekeyError(
          "REKEY_UNCONFIRMED",
          `Could not prepare the next token: ${why}.`,
          "maybe applied",
        );
  }
}

const { addressFrom } = queueToken;
const goneReason = `the queue refuses the token that was handed out. Check ${addressFrom}. If someone else has rolled or reset the token, set a new version, which adds a new one`;

/** True if a token with a hash is the platform's current one. */
function isToken({ credentials: { token } }: SecretResponse, hash: string): boolean {
  return token !== undefined && hashOf(token) === hash;
}

/** True if a user has a next pair of tokens. It is not a field of the record, because Rekey changes it itself. */
function hasNext({ otherFields = "{}" }: SecretResponse): boolean | undefined {
  const others = parsed(otherFields);
  const has = isObject(others) ? others["has_next_token"] : undefined;
  return typeof has === "boolean" ? has : undefined;
}
