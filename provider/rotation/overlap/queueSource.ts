import { hashOf } from "../../clients/aclReplies";
import { type ProbeResult } from "../../clients/probe";
import { RekeyError, RequestError } from "../../domain/errors";
import { ownerOf, secretOf } from "../../domain/secretKind";
import { type Credentials } from "../../records/fields";
import { type SecretResponse } from "../../records/response";
import { adopted } from "../afterRead";
import { type Desired } from "../desired";
import { type Finding, type Learned } from "../findings";
import { marksOf, saltedMark } from "../marks";
import { type State } from "../state";
import { hasNext, overlapEvidence } from "./overlapEvidence";
import {
  type Added,
  type OverlapSource,
  type Retired,
  type Retirement,
  type SourceContext,
} from "./source";

/** Milliseconds of one attempt to use the new token. */
const probeMs = 5_000;

/**
 * A user of the queue. The platform accepts the current and the next token; a roll makes the next one the current one.
 * Clients are given the next one, so for Rekey the platform's current token is the former one until it is rolled.
 */
export class QueueSource implements OverlapSource {
  #user: SecretResponse | undefined;

  constructor(private readonly of: SourceContext) {}

  async read(saved: State | undefined, desired: Desired): Promise<Learned> {
    const { context, run } = this.of;
    run.options.settings.get("queueUserId");
    const user = await this.#readUser();
    if (saved) return overlapEvidence.afterRead(saved, user, context);
    const { state, findings } = adopted(desired, user, context);
    const prepared: Finding[] = hasNext(user) ? [{ kind: "prepared" }] : [];
    return { state, findings: [...findings, ...prepared] };
  }

  requireSettings(): void {
    this.#address();
  }

  async add({ memory }: State): Promise<Added> {
    const { added, former } = memory;
    // Undefined after a roll by this run: a read may be outdated then.
    const user = this.#user;
    const shown = marksOf(memory, user?.credentials ?? {});
    const isShown = shown.token !== undefined && !former.includes(shown.token);
    const before = isShown ? shown : memory.current;
    const isOwn = added !== undefined && !added.isOfUnknownAge;
    const isPrepared = user !== undefined && hasNext(user) && !isOwn;
    const credentials = await this.#prepare(isPrepared);
    if (marksOf(memory, credentials).token === before.token) throw this.#sameToken();
    return {
      credentials,
      before,
      hashes: [hashOf(credentials.token ?? "")],
      isOfUnknownAge: isPrepared || undefined,
    };
  }

  async prove({ credentials }: Added): Promise<ProbeResult> {
    const { run, subject } = this.of;
    const { probe } = subject.kind;
    if (!probe) throw new Error("the kind has no probe");
    return run.platform.probe({
      owner: ownerOf(subject),
      endpoint: { ...probe, baseUrl: this.#address() },
      credential: { name: "token", value: credentials.token ?? "" },
      timeoutMs: probeMs,
      unchanged: "The former token stays valid.",
    });
  }

  async retire(retirement: Retirement): Promise<Retired> {
    const user = this.#user ?? (await this.#readUser());
    if (isRolled(user, retirement)) return this.#useNew({ result: "already" });
    this.#refuseOwn(user, retirement);
    await this.#roll(retirement);
    this.#user = undefined;
    return this.#useNew({ result: "now" });
  }

  /** Where a token is tried. @throws SettingsError if it is missing */
  #address(): string {
    const { run, place } = this.of;
    return run.options.settings.queueAddress(place.queueUrl);
  }

  /**
   * An error is followed by a read. After a 409, there is no such pair: someone else has rolled or replaced it, unless
   * the former token is still shown.
   */
  async #roll(retirement: Retirement): Promise<void> {
    const { run, subject } = this.of;
    const [hash = ""] = retirement.hashes;
    try {
      await run.platform.nextTokens.roll(subject.id, hash);
    } catch (error) {
      if (!(error instanceof RequestError) || error.delivery === "not sent") throw error;
      const after = await this.#readUser().catch(() => undefined);
      const isGone = error.status === 409 && after && !isFormerShown(after, retirement);
      if (!after || !(isGone || isRolled(after, retirement))) throw error;
    }
  }

  async #readUser(): Promise<SecretResponse> {
    const { run, subject, reads } = this.of;
    const operations = run.platform.operations(subject.kind);
    const user = await operations.read(subject.id, { newConnection: true });
    reads.push(user.credentials);
    return (this.#user = user);
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
    if (user && !hasNext(user)) throw this.#notPrepared(lost, "a read shows no next token");
    try {
      if (user) return await run.platform.nextTokens.prepare(subject.id);
    } catch {
      // The first one may have been applied.
    }
    throw isPrepared ? this.#notPrepared(lost, "the next token existed before") : lost;
  }

  /** The token of the platform has changed: it is read when it is needed. */
  #useNew(retired: Retired): Retired {
    const { run, subject } = this.of;
    run.platform.useQueueToken(subject.id, undefined);
    return retired;
  }

  /** Other processes use it, too, and would fail. */
  #refuseOwn({ credentials }: SecretResponse, retirement: Retirement): void {
    const { context, subject } = this.of;
    const { ownToken } = context;
    if (ownToken === undefined) return;
    const isShown = [credentials.token, credentials.readOnlyToken].includes(ownToken);
    if (!isShown && saltedMark(retirement.salt, ownToken) !== retirement.former) return;
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

  #sameToken(): RekeyError {
    const text = `The ${secretOf(this.of.subject)} was not rotated: the platform returned the current token as the next one. Nothing valid was removed. Run \`up\` again.`;
    return new RekeyError("REKEY_UNCONFIRMED", text, "maybe applied");
  }
}

/** Whether the new token is the platform's current one. */
function isRolled({ credentials: { token } }: SecretResponse, { hashes }: Retirement): boolean {
  return token !== undefined && hashes.includes(hashOf(token));
}

function isFormerShown({ credentials: { token } }: SecretResponse, retirement: Retirement) {
  return token !== undefined && saltedMark(retirement.salt, token) === retirement.former;
}
