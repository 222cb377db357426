import { type RejectedError, UnconfirmedError, UnreadableError } from "./errors";
import { isNotFound, otherTeam } from "./failures";
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
    const { word, confirmation, table } = this.kind;
    const response = await this.#send({
      method: "POST",
      path: fillPath(this.paths.reset, { id }),
      idempotent: false,
      // The response shows no id.
      ownConnection: table.id === undefined || confirmation !== undefined,
      purpose: `reset the ${secretOf({ kind: this.kind, id })}`,
      consequences: {
        "not sent": `The ${word} was not changed: nothing was sent.`,
        rejected: `The ${word} was not changed.`,
        "maybe applied": `The ${word} may have been changed, and the new one is unknown.`,
      },
    });
    const read = this.#read(response, confirming, id);
    if (typeof read !== "string") return read;
    const { status, body } = response;
    if (confirmation !== undefined && confirming.includes(status) && tryReadJson(body)?.value === confirmation) {
      return { record: {}, credentials: {}, exactIntegers: {}, problems: [] };
    }
    throw new UnconfirmedError(response.facts, unusable(response, read));
  }

  /**
   * Reads what has the secret, and its credentials if the platform shows them. It may be repeated.
   *
   * @param options.hideCredentials whether the platform leaves out the credentials
   * @see docs/interface.md#read-a-database
   */
  async read(id: string, { hideCredentials = false } = {}): Promise<SecretResponse> {
    const response = await this.#send({
      method: "GET",
      path: fillPath(this.paths.read, { id }),
      ...(hideCredentials && { query: { credentials: "hide" } }),
      ownConnection: this.kind.table.id === undefined,
      purpose: `read ${ownerOf({ kind: this.kind, id })}`,
    });
    const read = this.#read(response, [200], id);
    if (typeof read !== "string") return read;
    throw new UnreadableError(response.facts, unusable(response, read));
  }

  /** @throws RejectedError, for 404 and 405 with the reasons that it may have */
  async #send(request: ApiRequest): Promise<ApiResponse> {
    try {
      return await this.requester.send(request);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw error.explained(this.#reasonsFor(error));
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
    const team = this.kind.service === "management" ? ` ${otherTeam}` : "";
    return { happened: `${happened}; it does not have this operation${orNone}`, advice: `${toCheck}${team}${which}` };
  }

  /**
   * The record of a response with one of these statuses, or why it is not the one with this id. Its credentials are
   * known, whatever it is. Without an id, it may be that of another request if its connection carried one.
   */
  #read(response: ApiResponse, statuses: readonly number[], id: string): SecretResponse | string {
    const { noun, table } = this.kind;
    const read = readSecretResponse(table, response.body);
    this.requester.secrets.add(valuesOf(read?.credentials));
    if (!read || !statuses.includes(response.status)) return `the response is not the record of a ${noun}`;
    const shown = table.id === undefined ? undefined : read.record[table.id];
    if (shown === id) response.recognize();
    else if (shown !== undefined) return `the response is the record of another ${noun}`;
    else if (response.isReused) return "the response is a record without an id, perhaps that of another request";
    return read;
  }
}

function unusable({ status, advice }: ApiResponse, problem: string) {
  return { happened: `the platform responded with ${status}, but ${problem}`, advice, status };
}
