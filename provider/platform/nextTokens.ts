import { ownerOf, queueToken, toCheckOf } from "../domain/secretKind";
import { type Credentials, valuesOf } from "../records/fields";
import { nextTokenTable, queueUserTable } from "../records/otherSecrets";
import { readSecretResponse } from "../records/response";
import { unusable } from "./failures";
import { fillPath, type Requester } from "./http";

/**
 * The next tokens of queue users. A user may have a second pair of tokens, which is accepted like the current one. A
 * roll makes it the only one. Both operations may be repeated.
 *
 * @see docs/interface.md#two-valid-queue-tokens
 */
export class NextTokens {
  constructor(private readonly requester: Requester) {}

  /** The next pair, which is made if there is none. Until it is rolled, the same one is returned. */
  async prepare(id: string): Promise<Credentials> {
    const response = await this.requester.send({
      ...requestFor(queueToken.paths?.next, id),
      purpose: `prepare the next token of ${ownerOf({ kind: queueToken, id })}`,
      consequences: {
        unchanged: "No next token was made.",
        unknown: "A next token may have been made.",
      },
    });
    const { credentials = {} } =
      readSecretResponse(nextTokenTable, response.body) ??
      readSecretResponse(queueUserTable, response.body) ??
      {};
    this.requester.secrets.add(valuesOf(credentials));
    if (credentials.token !== undefined) return credentials;
    throw unusable(response, "does not show the next token", "maybe applied");
  }

  /**
   * Makes the next pair the only one.
   *
   * @param hash the SHA-256 of its token, in hexadecimal digits. With any other one, the platform refuses it (409).
   */
  async roll(id: string, hash: string): Promise<void> {
    const { body } = await this.requester.send({
      ...requestFor(queueToken.paths?.roll, id),
      body: { next_token_hash: hash },
      purpose: `retire the former token of ${ownerOf({ kind: queueToken, id })}`,
      consequences: {
        unchanged: "The former token was not retired.",
        unknown: "The former token may still be valid.",
      },
    });
    this.requester.secrets.add(valuesOf(readSecretResponse(queueUserTable, body)?.credentials));
  }
}

/** A POST on a new connection, because its response does not show to which request it belongs. */
function requestFor(path = "", id: string) {
  return {
    method: "POST",
    path: fillPath(path, { id }),
    idempotent: true,
    changesSecret: true,
    newConnection: true,
    toCheck: toCheckOf(queueToken),
  } as const;
}
