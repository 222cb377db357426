import { UnconfirmedError, UnreadableError } from "./errors";
import { type ApiResponse, type Requester, fillPath } from "./http";
import { type DatabaseResponse, readDatabaseResponse } from "../records/response";

/** Statuses that confirm a reset. 202 only means that it was accepted. */
const confirming: readonly number[] = [200, 201];

/** The management interface's operations on databases. */
export class Databases {
  /**
   * @param resetPasswordPath contains `{id}` once
   * @param databasePath contains `{id}` once; `none` if no database can be read
   */
  constructor(
    private readonly requester: Requester,
    private readonly resetPasswordPath: string,
    private readonly databasePath = "none",
  ) {}

  /**
   * Resets the password of a database. It is not repeated once it may have reached the platform.
   *
   * @returns the database's record, as far as it could be read: the password was reset.
   * @throws UnconfirmedError if it may have been reset; NotSentError or RejectedError if it was not.
   * @see docs/interface.md#reset-a-password
   */
  async resetPassword(id: string): Promise<DatabaseResponse> {
    const response = await this.requester.send({
      method: "POST",
      path: fillPath(this.resetPasswordPath, { id }),
      idempotent: false,
      purpose: `reset the password of database ${JSON.stringify(id)}`,
      consequences: {
        "not sent": "The password was not changed: nothing was sent.",
        rejected: "The password was not changed.",
        "maybe applied": "The password may have been changed, and the new one is unknown.",
      },
    });
    const read = this.#read(response, confirming);
    if (!read || isOther(read, id)) throw new UnconfirmedError(response.facts, unusable(response, read));
    return read;
  }

  /**
   * Reads a database, and its credentials if the platform shows them. It may be repeated.
   *
   * @see docs/interface.md#read-a-database
   */
  async read(id: string, { hideCredentials = false, deadlineMs }: ReadOptions = {}): Promise<DatabaseResponse> {
    const response = await this.requester.send({
      method: "GET",
      path: fillPath(this.databasePath, { id }),
      ...(hideCredentials && { query: { credentials: "hide" } }),
      idempotent: true,
      deadlineMs,
      purpose: `read database ${JSON.stringify(id)}`,
      consequences: { "not sent": nothingChanged, rejected: nothingChanged, "maybe applied": nothingChanged },
    });
    const read = this.#read(response, [200]);
    if (!read || isOther(read, id)) throw new UnreadableError(response.facts, unusable(response, read));
    return read;
  }

  /** The record of a response with one of these statuses. Its credentials are known, whatever its status. */
  #read({ status, body }: ApiResponse, statuses: readonly number[]): DatabaseResponse | undefined {
    const read = readDatabaseResponse(body);
    this.requester.secrets.add(Object.values<string>(read?.credentials ?? {}));
    return statuses.includes(status) ? read : undefined;
  }
}

/** How a database is read. */
interface ReadOptions {
  /** Whether the platform leaves out the credentials. Default: false. */
  readonly hideCredentials?: boolean;
  /** Milliseconds until the read fails, if that is earlier than its usual deadline. */
  readonly deadlineMs?: number | undefined;
}

const nothingChanged = "Nothing was changed.";

function isOther({ record }: DatabaseResponse, id: string): boolean {
  return record.databaseId !== undefined && record.databaseId !== id;
}

function unusable({ status, advise }: ApiResponse, read: DatabaseResponse | undefined) {
  const what = read ? "the response is the record of another database" : "the response is not a database record";
  return { happened: `the platform responded with ${status}, but ${what}`, advice: advise(), status };
}
