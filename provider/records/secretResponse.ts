import { type Credentials } from "./fields";

/** The response to a reset or a read of a secret, as far as it could be understood. */
export interface SecretResponse {
  /** Each field as the platform returned it. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly credentials: Credentials;
  readonly exactIntegers: Readonly<Record<string, string>>;
  /** JSON text of unknown fields. A secret, because they may contain anything. */
  readonly otherFields?: string;
  /** Problems with fields that were sent and could not be read, one line each. Never contains a value. */
  readonly problems: readonly string[];
  /**
   * It may be the response to another request: it has no id, and its connection carried a request before. Only the
   * response to a reset may be one, because its credentials may be the only copy.
   */
  readonly isUnattributed?: true;
}

/** Credentials without a record. */
export function onlyCredentials(credentials: Credentials): SecretResponse {
  return { record: {}, credentials, exactIntegers: {}, problems: [] };
}
