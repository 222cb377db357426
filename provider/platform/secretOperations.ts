import { isObject, isSameId, valuesOf } from "../records/fields";
import { readSecretResponse, tryReadJson } from "../records/response";
import { onlyCredentials, type SecretResponse } from "../records/secretResponse";
import { unusable } from "./failures";
import { type ApiResponse, fillPath, type Requester } from "./http";
import { ownerOf, type SecretKind, secretOf, toCheckOf } from "../domain/secretKind";

/** Statuses that confirm a reset. 202 only means that it was accepted. */
const confirming: readonly number[] = [200, 201];

/** The platform's operations on the secrets of one kind. */
export class SecretOperations {
  /** @param withId the kinds whose responses to resets have shown the id in this run */
  constructor(
    private readonly requester: Requester,
    private readonly kind: SecretKind,
    private readonly paths: Readonly<Record<"reset" | "read", string>>,
    private readonly withId: Set<SecretKind> = new Set(),
  ) {}

  /**
   * Resets a secret. It is not repeated once it may have reached the platform.
   *
   * @param options.newConnection whether it is sent on a new connection, so that even a response without an id can only
   *   be the one to this request. Once a response has shown the id, the next ones are expected to show it, too.
   * @returns the record, as far as it could be read: the secret was reset, unless the record `isUnattributed`.
   * @see docs/interface.md#reset-a-password
   */
  async reset(id: string, { newConnection = false } = {}): Promise<SecretResponse> {
    const { word, confirmation, table } = this.kind;
    const isAlone = newConnection && !this.withId.has(this.kind);
    const response = await this.requester.send({
      method: "POST",
      path: fillPath(this.paths.reset, { id }),
      idempotent: false,
      // The response shows no id.
      newConnection: isAlone || table.id === undefined || confirmation !== undefined,
      purpose: `reset the ${secretOf({ kind: this.kind, id })}`,
      toCheck: toCheckOf(this.kind, this.kind.paths?.reset),
      consequences: {
        unchanged: `The ${word} was not changed.`,
        unknown: `The ${word} may have been changed, and the new one is unknown.`,
      },
    });
    const { status, body } = response;
    const read = this.#read(response, confirming, id);
    if (typeof read !== "string") {
      if (this.#idIn(read) !== undefined) this.withId.add(this.kind);
      return this.#isAttributed(response, read) ? read : { ...read, isUnattributed: true };
    }
    const json = tryReadJson(body);
    // A record of credentials alone is empty if it hides them.
    const isHidden = table.id === undefined && isObject(json) && Object.keys(json).length === 0;
    const isConfirmation = isHidden || (confirmation !== undefined && json === confirmation);
    if (confirming.includes(status) && isConfirmation) {
      return onlyCredentials({});
    }
    throw unusable(response, read, "maybe applied");
  }

  /**
   * Reads what has the secret, and its credentials if the platform shows them. It may be repeated.
   *
   * @param options.newConnection whether it is sent on a new connection, as after one that may hold a late response
   * @see docs/interface.md#read-a-database
   */
  async read(
    id: string,
    { newConnection = this.kind.table.id === undefined } = {},
  ): Promise<SecretResponse> {
    const response = await this.requester.send({
      method: "GET",
      path: fillPath(this.paths.read, { id }),
      newConnection,
      purpose: `read ${ownerOf({ kind: this.kind, id })}`,
      toCheck: toCheckOf(this.kind, this.kind.paths?.read),
    });
    const read = this.#read(response, [200], id);
    if (typeof read === "string") throw unusable(response, read);
    if (this.#isAttributed(response, read)) return read;
    throw unusable(response, "is a record without an id, perhaps that of another request");
  }

  /**
   * The record of a response with one of these statuses, or what is wrong with it. Its credentials are known, whatever
   * it is.
   */
  #read(
    { status, body, connection }: ApiResponse,
    statuses: readonly number[],
    id: string,
  ): SecretResponse | string {
    const { noun, table } = this.kind;
    const read = readSecretResponse(table, body);
    this.requester.secrets.add(valuesOf(read?.credentials));
    if (!read || !statuses.includes(status)) return `is not the record of a ${noun}`;
    const shown = this.#idIn(read);
    connection.isRecognized = shown !== undefined && isSameId(shown, id);
    return shown === undefined || connection.isRecognized
      ? read
      : `is the record of another ${noun}`;
  }

  /** True if a record can only be that of its own request: it has the id, or its connection carried no other one. */
  #isAttributed({ connection }: ApiResponse, read: SecretResponse): boolean {
    return !connection.isReused || this.#idIn(read) !== undefined;
  }

  #idIn({ record }: SecretResponse): string | undefined {
    const { id } = this.kind.table;
    return id === undefined ? undefined : (record[id] as string | undefined);
  }
}
