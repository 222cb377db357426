import { type DatabaseResponse, readDatabaseResponse } from "../records/databaseResponse";
import { settingDefaults } from "../settings";
import { UnconfirmedError } from "./errors";
import { fillPath } from "./path";
import { type ApiResponse, type Requester } from "./requester";

/** Statuses with which the platform says that a reset is done; 202 says that it has only been accepted. */
const confirming: readonly number[] = [200, 201];

/** The management interface's operations on databases. */
export class Databases {
  constructor(
    private readonly requester: Requester,
    private readonly resetPasswordPath: string = settingDefaults.resetPasswordPath,
  ) {}

  /**
   * Resets the password of a database. Sent at most once when it may have arrived.
   *
   * @param secrets the former credentials: no error shows them, should the platform's own words repeat them.
   * @returns what could be read of the database's record: the password has been reset.
   * @throws UnconfirmedError where it may have been reset; NotSentError, RejectedError where it has not been.
   * @see Interface, section 4.1
   */
  async resetPassword(id: string, secrets: readonly string[] = []): Promise<DatabaseResponse> {
    const answer = await this.requester.send({
      method: "POST",
      path: fillPath(this.resetPasswordPath, { id }),
      idempotent: false,
      secrets,
      purpose: `reset the password of database ${JSON.stringify(id)}`,
      consequences: {
        "not sent": "The password was not changed: nothing was sent.",
        rejected: "The password was not changed.",
        "maybe applied": "The password may have been changed, and the new one is not known.",
      },
    });
    const read = confirming.includes(answer.status) ? readDatabaseResponse(answer.body) : undefined;
    if (!read) throw unusable(answer, "its answer is not a database record");
    if (read.record.databaseId !== undefined && read.record.databaseId !== id) {
      throw unusable(answer, "it sent the record of another database");
    }
    return read;
  }
}

function unusable({ facts, status }: ApiResponse, why: string): UnconfirmedError {
  return new UnconfirmedError(
    facts,
    `the platform answered ${status}, but ${why}`,
    "Check rekey:baseUrl and rekey:resetPasswordPath, then run again.",
    status,
  );
}
