import { createHash } from "node:crypto";
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
  type SourceOf,
} from "./source";

/** Milliseconds of one attempt to use the new token. */
const probeMs = 5_000;

/**
 * A user of the queue. The platform accepts the current and the next token; a roll makes the next one the current one.
 * Clients are given the next one, so for Rekey the platform's current token is the former one until it is rolled.
 */
export class QueueSource implements OverlapSource {
  #user: SecretResponse | undefined;

  constructor(private readonly of: SourceOf) {}

  requireSettings(): void {
    const { run, subject } = this.of;
    run.platform.operations(subject.kind);
    const { settings } = run.options;
    settings.require("queueUrl");
    settings.get("queueUserId");
  }

  async read(saved: State | undefined, desired: Desired): Promise<Learned> {
    const { context } = this.of;
    const user = await this.#readUser();
    if (saved) return overlapEvidence.afterRead(saved, user, context);
    const { state, findings } = adopted(desired, user, context);
    const prepared: Finding[] = hasNext(user) ? [{ kind: "prepared" }] : [];
    return { state, findings: [...findings, ...prepared] };
  }

  async add({ memory }: State): Promise<Added> {
    const user = this.#user ?? (await this.#readUser());
    const isPrepared = hasNext(user) === true && memory.added === undefined;
    const credentials = await this.#prepare();
    const marks = marksOf(memory, credentials);
    const before = marksOf(memory, user.credentials);
    if (marks.token === (before.token ?? memory.current.token)) throw this.#sameToken();
    return {
      credentials,
      before: before.token === undefined ? memory.current : before,
      hashes: [sha256(credentials.token ?? "")],
      isOfUnknownAge: isPrepared || undefined,
    };
  }

  async prove({ credentials }: Added): Promise<ProbeResult> {
    const { run, subject } = this.of;
    const { probe } = subject.kind;
    if (!probe) throw new Error("the kind has no probe");
    return run.platform.probe({
      owner: ownerOf(subject),
      endpoint: { ...probe, baseUrl: run.options.settings.require("queueUrl") },
      credential: { name: "token", value: credentials.token ?? "" },
      timeoutMs: probeMs,
      unchanged: "The token before it stays valid.",
    });
  }

  async retire(retirement: Retirement): Promise<Retired> {
    const user = this.#user ?? (await this.#readUser());
    if (isRetired(user, retirement)) return this.#useNew({ result: "already" });
    this.#refuseOwn(user, retirement);
    await this.#roll(retirement);
    return this.#useNew({ result: "now" });
  }

  /** An error is followed by a read, also a 409: someone else may have rolled the pair before. */
  async #roll(retirement: Retirement): Promise<void> {
    const { run, subject } = this.of;
    const [hash = ""] = retirement.hashes;
    try {
      await run.platform.nextTokens.roll(subject.id, hash);
    } catch (error) {
      if (!(error instanceof RequestError) || error.delivery === "not sent") throw error;
      const after = await this.#readUser().catch(() => undefined);
      // If the former token is not known or hidden, and someone has prepared others, nothing else shows it.
      const isKnown = after?.credentials.token !== undefined && retirement.former !== undefined;
      const isOther = error.status === 409 && !isKnown;
      if (!after || !(isOther || isRetired(after, retirement))) throw error;
    }
  }

  async #readUser(): Promise<SecretResponse> {
    const { run, subject, reads } = this.of;
    const operations = run.platform.operations(subject.kind);
    const user = await operations.read(subject.id, { newConnection: true });
    reads.push(user.credentials);
    return (this.#user = user);
  }

  async #prepare(): Promise<Credentials> {
    const { run, subject } = this.of;
    try {
      return await run.platform.nextTokens.prepare(subject.id);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if ([404, 405].includes(error.status ?? 0)) throw this.#hasNoNextTokens(error);
      if (error.delivery !== "maybe applied") throw error;
      return this.#prepareAgain(error);
    }
  }

  /** The response was lost. If a read shows that the pair was made, the same one is asked for once more. */
  async #prepareAgain(lost: RequestError): Promise<Credentials> {
    const { run, subject } = this.of;
    const user = await this.#readUser().catch(() => undefined);
    if (!user) throw lost;
    if (hasNext(user)) {
      return run.platform.nextTokens.prepare(subject.id).catch(() => {
        throw lost;
      });
    }
    const text = `The ${secretOf(subject)} was not rotated: ${lost.happened}, and a read shows that no next token was made. Nothing was changed. Run \`up\` again.`;
    throw new RekeyError("REKEY_UNCONFIRMED", text, "rejected");
  }

  /** The token of the platform has changed: it is read when it is needed. */
  #useNew(retired: Retired): Retired {
    const { run, subject } = this.of;
    this.#user = undefined;
    run.platform.useQueueToken(subject.id, undefined);
    return retired;
  }

  /** Other processes use it, too, and would fail. */
  #refuseOwn({ credentials }: SecretResponse, retirement: Retirement): void {
    const { context, subject } = this.of;
    const { ownToken } = context;
    if (ownToken === undefined || !mayBeFormer(ownToken, credentials, retirement)) return;
    const isShown = credentials.token !== undefined || retirement.former !== undefined;
    const text = `The former ${secretOf(subject)} was not retired: it ${isShown ? "is" : "is not shown, and may be"} rekey:queueToken, which this run and others use. Both tokens stay valid. Set rekey:queueToken to the new one (output token), or set rekey:queueUserId instead, then run again.`;
    throw new RekeyError("REKEY_QUEUE_TOKEN_IN_USE", text, "not sent");
  }

  #hasNoNextTokens({ method, url, status }: RequestError): RekeyError {
    const text = `The ${secretOf(this.of.subject)} was not rotated: the platform has no operation that prepares a next token (${status} for ${method} ${url}). Nothing was changed. Set \`overlap: "none"\`, which replaces the token at once: clients are refused until they have the new one.`;
    return new RekeyError("REKEY_REJECTED", text, "rejected");
  }

  #sameToken(): RekeyError {
    const text = `The ${secretOf(this.of.subject)} was not rotated: as its next token, the platform returned the current one. Nothing valid was removed. Run \`up\` again.`;
    return new RekeyError("REKEY_UNCONFIRMED", text, "maybe applied");
  }
}

/** Whether a user has the new token as its current one, or a third one. If it is not shown, it has no next one then. */
function isRetired(user: SecretResponse, { salt, former, hashes }: Retirement): boolean {
  const { token } = user.credentials;
  if (token !== undefined && hashes.includes(sha256(token))) return true;
  if (token === undefined || former === undefined) return hasNext(user) === false;
  return saltedMark(salt, token) !== former;
}

/** Whether a token is that of the former pair, or may be, because nothing shows that. */
function mayBeFormer(
  ownToken: string,
  { token, readOnlyToken }: Credentials,
  { salt, former, hashes }: Retirement,
): boolean {
  if (token !== undefined) return [token, readOnlyToken].includes(ownToken);
  if (former !== undefined) return saltedMark(salt, ownToken) === former;
  return !hashes.includes(sha256(ownToken));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
