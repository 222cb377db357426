import { type RejectedError, UnconfirmedError, UnreadableError } from "./errors";
import { explained, isNotFound, nothingChanged } from "./failures";
import { type ApiRequest, type ApiResponse, type Requester, fillPath } from "./http";
import { valuesOf } from "../records/credentials";
import { ownerOf, type SecretKind, type SecretPaths, secretOf } from "./secretKind";
import { readSecretResponse, type SecretResponse, tryReadJson } from "../records/response";

/** Statuses that confirm a reset. 202 only means that it was accepted. */
const confirming: readonly number[] = [200, 201];

/** The platform's operations on the secrets of one kind. */
export class SecretOperations {
  constructor(
    private readonly requester: Requester,
    private readonly kind: SecretKind,
    private readonly paths: SecretPaths,
  ) {}

  /**
   * Resets a secret. It is not repeated once it may have reached the platform.
   *
   * @returns the record, as far as it could be read: the secret was reset.
   * @throws UnconfirmedError if it may have been reset; NotSentError or RejectedError if it was not.
   * @see docs/interface.md#reset-a-password
   */
  async reset(id: string): Promise<SecretResponse> {
    const { word, confirmation } = this.kind;
    const response = await this.#send({
      method: "POST",
      path: fillPath(this.paths.reset, { id }),
      idempotent: false,
      purpose: `reset the ${secretOf({ kind: this.kind, id })}`,
      consequences: {
        "not sent": `The ${word} was not changed: nothing was sent.`,
        rejected: `The ${word} was not changed.`,
        "maybe applied": `The ${word} may have been changed, and the new one is unknown.`,
      },
    });
    const read = this.#read(response, confirming);
    if (read && !this.#isOther(read, id)) return read;
    const { status, body } = response;
    if (confirmation !== undefined && confirming.includes(status) && tryReadJson(body)?.value === confirmation) {
      return { record: {}, credentials: {}, exactIntegers: {}, problems: [] };
    }
    throw new UnconfirmedError(response.facts, this.#unusable(response, read));
  }

  /**
   * Reads what has the secret, and its credentials if the platform shows them. It may be repeated.
   *
   * @see docs/interface.md#read-a-database
   */
  async read(id: string, { hideCredentials = false, deadlineMs }: ReadOptions = {}): Promise<SecretResponse> {
    const response = await this.#send({
      method: "GET",
      path: fillPath(this.paths.read, { id }),
      ...(hideCredentials && { query: { credentials: "hide" } }),
      idempotent: true,
      deadlineMs,
      purpose: `read ${ownerOf({ kind: this.kind, id })}`,
      consequences: nothingChanged,
    });
    const read = this.#read(response, [200]);
    if (read && !this.#isOther(read, id)) return read;
    throw new UnreadableError(response.facts, this.#unusable(response, read));
  }

  /** @throws RejectedError, for 404 and 405 with the reasons that it may have */
  async #send(request: ApiRequest): Promise<ApiResponse> {
    try {
      return await this.requester.send(request);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw explained(error, request, this.#reasonsFor(error));
    }
  }

  /** Why there may be no such operation. Settings with its path are in the advice already. */
  #reasonsFor({ happened, advice, status }: RejectedError): Pick<RejectedError, "happened" | "advice"> {
    const { paths, noun, onlyId } = this.kind;
    const hasId = onlyId === undefined;
    const which =
      hasId && status === 404 ? " For Upstash, the id is the UUID that the console shows, not the name." : "";
    if (!paths) return { happened, advice: `${advice}${which}` };
    const orNone = hasId ? `, or no ${noun} with this id` : "";
    const toCheck = `Check ${hasId ? "the id and " : ""}the address of the platform.`;
    return { happened: `${happened}; it does not have this operation${orNone}`, advice: `${toCheck}${which}` };
  }

  /** The record of a response with one of these statuses. Its credentials are known, whatever its status. */
  #read({ status, body }: ApiResponse, statuses: readonly number[]): SecretResponse | undefined {
    const read = readSecretResponse(this.kind.table, body);
    this.requester.secrets.add(valuesOf(read?.credentials));
    return statuses.includes(status) ? read : undefined;
  }

  #isOther({ record }: SecretResponse, id: string): boolean {
    const { id: field } = this.kind.table;
    return field !== undefined && record[field] !== undefined && record[field] !== id;
  }

  #unusable({ status, advise }: ApiResponse, read: SecretResponse | undefined) {
    const { noun } = this.kind;
    const what = read ? `the response is the record of another ${noun}` : `the response is not the record of a ${noun}`;
    return { happened: `the platform responded with ${status}, but ${what}`, advice: advise(), status };
  }
}

/** How a secret is read. */
interface ReadOptions {
  /** Whether the platform leaves out the credentials. Default: false. */
  readonly hideCredentials?: boolean;
  /** Milliseconds until the read fails, if that is earlier than its usual deadline. */
  readonly deadlineMs?: number | undefined;
}
