import { hashOf } from "../clients/aclReplies";
import { type ProbeResult } from "../clients/probe";
import { type ProbeEndpoint } from "../domain/endpoint";
import { RekeyError, RequestError } from "../domain/errors";
import { secretOf } from "../domain/secretKind";
import { type Credentials, isObject, orUndefined } from "../records/fields";
import { onlyCredentials, type SecretResponse } from "../records/secretResponse";
import { addsSecret, validFormers } from "./formers";
import { keptFormer, valuesIn } from "./handOver";
import { saltedMark } from "./marks";
import { type Attempt, type Former, parsed } from "./memory";
import { endpointFor, notAccepted, proveAccepted } from "./proof";
import { ResetSource } from "./resetSource";
import { isOlder } from "./schedule";
import { type Added, type Proof, type RetirableMemory, type Retired, type Sight } from "./source";
import { type State } from "./state";

/**
 * A user of the queue. The platform accepts the current and the next token; a roll makes the next one the current one.
 * Clients are given the next one, so for Rekey the platform's current token is the former one until it is rolled. With
 * `overlap: "none"`, one request replaces both.
 */
export class QueueSource extends ResetSource {
  #user: Sight | undefined;

  override async read(saved: State | undefined): Promise<Sight> {
    this.of.run.options.settings.get("queueUserId");
    const user = await this.#readUser();
    return saved && (await this.#isLost(saved, user)) ? { ...user, isLost: true } : user;
  }

  /** While two are valid, no read shows the one that was handed out: someone may have made another next pair. */
  async #isLost({ memory, token }: State, user: Sight): Promise<boolean> {
    const showsFormer = ({ credentials }: Sight) => {
      const shown = saltedMark(memory.salt, credentials.token ?? "");
      return validFormers(memory).some(({ credential }) => credential?.mark === shown);
    };
    if (!showsFormer(user)) return false;
    if (user.hasNext === false) return true;
    const { run, subject, program } = this.of;
    if (!program) return false;
    if (token !== undefined) {
      const canTry = orUndefined(() => this.#endpoint()) !== undefined;
      return canTry && (await this.#proveAccepted(token)).kind === "refused";
    }
    // Its value is not saved, but the platform returns the next pair that it has.
    if (!user.hasNext) return false;
    const next = await run.platform.nextTokens.prepare(subject.id).catch(() => undefined);
    const isOther =
      next && saltedMark(memory.salt, next.token ?? "") !== memory.current.marks.token;
    // If someone else has rolled since the read, this request has made another pair, and nothing is lost.
    return isOther === true && showsFormer(await this.#readUser());
  }

  requireSettings(): void {
    const { program, subject } = this.of;
    if (program && addsSecret(subject.kind, program)) this.#endpoint();
  }

  /** Where a token is tried. @throws SettingsError if that is not set */
  #endpoint(): ProbeEndpoint {
    const { run, place, subject } = this.of;
    return endpointFor(subject, place, run.options.settings);
  }

  override async add(attempted: State, sight: Sight | undefined): Promise<Added> {
    const { attempt } = attempted.memory;
    if (!attempt?.adds) return super.add(attempted, sight);
    try {
      return await this.#addNext(attempted, attempt, sight);
    } catch (error) {
      if (!(error instanceof RekeyError) || error.delivery !== "maybe applied") throw error;
      return { lost: error };
    }
  }

  async #addNext({ memory }: State, attempt: Attempt, sight: Sight | undefined): Promise<Added> {
    const { program, context } = this.of;
    const markOf = ({ token = "" }: Credentials) => saltedMark(memory.salt, token);
    const { count, firstSentAt, isOfUnknownAge } = attempt;
    // A next pair that no attempt of Rekey has made may be of any age.
    const isPrepared = sight?.hasNext === true && count === 1;
    const next = await this.#prepare(isPrepared);
    if (next.token === sight?.credentials.token) throw this.#sameToken(isPrepared);
    const isRemembered = count > 1 && [undefined, markOf(next)].includes(attempt.expects);
    if (!isRemembered) {
      const ofNew = {
        firstSentAt: attempt.lastSentAt,
        isOfUnknownAge: sight?.hasNext || undefined,
      };
      return { response: onlyCredentials(next), attempt: { ...ofNew, expects: markOf(next) } };
    }
    if (!isOlder({ generatedAt: firstSentAt }, program?.rotatedSince, context.now)) {
      return {
        response: onlyCredentials(next),
        attempt: { firstSentAt, isOfUnknownAge, expects: markOf(next) },
      };
    }
    // What is older than a date must not be handed out: it takes the place of the current one, and is replaced.
    await this.#roll(hashOf(next.token ?? ""));
    const ofOther = { firstSentAt: attempt.lastSentAt, isOfUnknownAge: undefined };
    try {
      const other = await this.#prepare(false);
      return {
        response: onlyCredentials(other),
        rolled: next,
        attempt: { ...ofOther, expects: markOf(other) },
      };
    } catch (error) {
      if (!(error instanceof RekeyError)) throw error;
      return { rolled: next, lost: error, attempt: { ...ofOther, expects: undefined } };
    }
  }

  override async prove(attempted: State, added: Added): Promise<Proof> {
    const { program, subject, run, context } = this.of;
    const { attempt } = attempted.memory;
    if (!program || !attempt?.adds) {
      const proof = await super.prove(attempted, added);
      if (proof.made) {
        run.platform.useQueueToken(subject.id, valuesIn(proof.made.responses).token);
      }
      return proof;
    }
    const { response, lost } = added;
    if (!response) return { failure: lost };
    const { token = "" } = response.credentials;
    const proof = await this.#proveAccepted(token);
    if (proof.kind !== "accepted") return { failure: notAccepted(subject, proof) };
    const { isOfUnknownAge, firstSentAt, reason } = attempt;
    return {
      made: {
        responses: [response],
        generatedAt: isOfUnknownAge ? undefined : firstSentAt,
        formers: [keptFormer(attempted, hashOf(token), { reason }, program, context)],
      },
      findings: isOfUnknownAge ? [{ kind: "unknownAge" }] : [],
    };
  }

  #proveAccepted(token: string): Promise<ProbeResult> {
    const credential = { name: "token", value: token } as const;
    return proveAccepted(this.of, this.#endpoint(), credential);
  }

  async retire(formers: readonly Former[], { salt }: RetirableMemory): Promise<Retired> {
    const { run, subject } = this.of;
    const [former] = formers;
    const hash = former?.by ?? "";
    const user = this.#user ?? (await this.#readUser());
    const isRolled = isToken(user, hash);
    if (!isRolled) this.#refuseOwn(user, former, salt);
    const result = isRolled ? "already" : await this.#roll(hash, { former, salt });
    if (result !== "lost") {
      this.#user = undefined;
      // The token of the platform has changed: it is read when it is needed.
      run.platform.useQueueToken(subject.id, undefined);
    }
    return { result };
  }

  /**
   * An error is followed by a read. After a 409, there is no such pair: someone else has rolled it, or it is lost if
   * the former token is still shown.
   */
  async #roll(
    hash: string,
    of?: Readonly<{ former: Former | undefined; salt: string }>,
  ): Promise<"now" | "lost"> {
    const { run, subject } = this.of;
    try {
      await run.platform.nextTokens.roll(subject.id, hash);
    } catch (error) {
      if (!(error instanceof RequestError) || error.delivery === "not sent") throw error;
      const after = await this.#readUser().catch(() => undefined);
      if (!after) throw error;
      if (isToken(after, hash)) return "now";
      if (error.status !== 409 || !of) throw error;
      const shown = saltedMark(of.salt, after.credentials.token ?? "");
      if (shown !== of.former?.credential?.mark) return "now";
      // The platform may refuse the pair although it still has it.
      const next = after.hasNext && (await run.platform.nextTokens.prepare(subject.id));
      if (next && hashOf(next.token ?? "") === hash) throw error;
      return "lost";
    }
    return "now";
  }

  async #readUser(): Promise<Sight> {
    const { run, subject, reads } = this.of;
    const operations = run.platform.operations(subject.kind);
    const user = await operations.read(subject.id, { newConnection: true });
    reads.push(user.credentials);
    return (this.#user = { ...user, hasNext: hasNext(user) });
  }

  /** @param isPrepared whether there is a pair of unknown age already */
  async #prepare(isPrepared: boolean): Promise<Credentials> {
    const { run, subject } = this.of;
    try {
      return await run.platform.nextTokens.prepare(subject.id);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if ([404, 405].includes(error.status ?? 0)) throw this.#hasNoNextTokens(error);
      if (error.delivery !== "maybe applied") throw error;
      return this.#prepareAgain(error, isPrepared);
    }
  }

  /** The response was lost. If a read shows that the pair was made, the same one is asked for once more. */
  async #prepareAgain(lost: RequestError, isPrepared: boolean): Promise<Credentials> {
    const { run, subject } = this.of;
    const user = await this.#readUser().catch(() => undefined);
    if (user && !user.hasNext) throw this.#notPrepared(lost, "a read shows no next token");
    try {
      if (user) return await run.platform.nextTokens.prepare(subject.id);
    } catch {
      // The first one may have been applied.
    }
    throw isPrepared ? this.#notPrepared(lost, "the next token existed before") : lost;
  }

  /** Other processes use it, too, and would fail. */
  #refuseOwn({ credentials }: SecretResponse, former: Former | undefined, salt: string): void {
    const { context, subject } = this.of;
    const { ownToken } = context;
    if (ownToken === undefined) return;
    const isShown = [credentials.token, credentials.readOnlyToken].includes(ownToken);
    if (!isShown && saltedMark(salt, ownToken) !== former?.credential?.mark) return;
    const text = `The former ${secretOf(subject)} was not retired: it is rekey:queueToken, which this run and others use. Both tokens stay valid. Set rekey:queueToken to the new one (output token), or set rekey:queueUserId instead, then run again.`;
    throw new RekeyError("REKEY_QUEUE_TOKEN_IN_USE", text, "not sent");
  }

  #hasNoNextTokens({ method, url, status }: RequestError): RekeyError {
    const text = `The ${secretOf(this.of.subject)} was not rotated: the platform has no operation that prepares a next token (${status} for ${method} ${url}). Nothing was changed. Set \`overlap: "none"\`, which replaces the token at once: clients are refused until they have the new one.`;
    return new RekeyError("REKEY_REJECTED", text, "rejected");
  }

  #notPrepared({ happened }: RequestError, why: string): RekeyError {
    const text = `The ${secretOf(this.of.subject)} was not rotated: ${happened}, and ${why}. Nothing was added. Run \`up\` again.`;
    return new RekeyError("REKEY_UNCONFIRMED", text, "rejected");
  }

  #sameToken(isPrepared: boolean): RekeyError {
    const text = `The ${secretOf(this.of.subject)} was not rotated: the platform returned the current token as the next one. Nothing valid was removed. Run \`up\` again.`;
    // Otherwise, the request has made a next one, which the next `up` takes for its own.
    return new RekeyError("REKEY_UNCONFIRMED", text, isPrepared ? "rejected" : "maybe applied");
  }
}

/** Whether a token with a hash is the platform's current one. */
function isToken({ credentials: { token } }: SecretResponse, hash: string): boolean {
  return token !== undefined && hashOf(token) === hash;
}

/** Whether a user has a next pair of tokens. It is not a field of the record, because Rekey changes it itself. */
function hasNext({ otherFields = "{}" }: SecretResponse): boolean | undefined {
  const others = parsed(otherFields);
  const has = isObject(others) ? others["has_next_token"] : undefined;
  return typeof has === "boolean" ? has : undefined;
}
