import { RekeyError } from "./rekeyError";

/** Rekey itself refuses to send a reset. Nothing was sent. */
export class RefusedError extends RekeyError {
  readonly delivery = "not sent";

  constructor(databaseId: string, why: string) {
    super(`The password of database ${JSON.stringify(databaseId)} was not reset, and nothing was sent: ${why}.`);
  }
}
