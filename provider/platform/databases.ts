import { UnconfirmedError } from "./errors";
import { type ApiResponse, type Requester, fillPath } from "./http";
import { type DatabaseResponse, readDatabaseResponse } from "../records/response";

/** Statuses that confirm a reset. 202 only means that it was accepted. */
const confirming: readonly number[] = [200, 201];

/** The management interface's operations on databases. */
export class Databases {
  /** @param resetPasswordPath contains `{id}` once */
  constructor(
    private readonly requester: Requester,
    private readonly resetPasswordPath: string,
  ) {}

  /**
   * Resets the password of a database. It is not repeated once it may have reached the platform.
   *
   * @param secrets the former credentials, which errors must not show even if the platform's message repeats them
   * @returns the database's record, as far as it could be read: the password was reset.
   * @throws UnconfirmedError if it may have been reset; NotSentError or RejectedError if it was not.
   * @see docs/interface.md#reset-a-password
   */
  async resetPassword(id: string, secrets: readonly string[] = []): Promise<DatabaseResponse> {
    const response = await this.requester.send({
      method: "POST",
      path: fillPath(this.resetPasswordPath, { id }),
      idempotent: false,
      secrets,
      purpose: `reset the password of database ${JSON.stringify(id)}`,
      consequences: {
        "not sent": "The password was not changed: nothing was sent.",
        rejected: "The password was not changed.",
        "maybe applied": "The password may have been changed, and the new one is unknown.",
      },
    });
    const read = confirming.includes(response.status) ? readDatabaseResponse(response.body) : undefined;
    if (!read) throw unusable(response, "the response is not a database record");
    if (read.record.databaseId !== undefined && read.record.databaseId !== id) {
      throw unusable(response, "the response is the record of another database");
    }
    return read;
  }
}

function unusable({ facts, status }: ApiResponse, why: string): UnconfirmedError {
  return new UnconfirmedError(
    facts,
    `the platform responded with ${status}, but ${why}`,
    "Check rekey:baseUrl and rekey:resetPasswordPath, then run again.",
    status,
  );
}
