/** One of the platform's two interfaces: where it is, and how one is let in. */
export interface Service {
  /** Address without a slash at the end. */
  readonly baseUrl: string;
  /** The whole Authorization header. */
  readonly authorization: string;
  /** The setting that names the address, for advice. */
  readonly addressSetting: string;
  /** The setting that says how the path of a reset is written, for advice. */
  readonly pathSetting: string;
  /** The settings that let one in, for advice. */
  readonly credentialSettings: string;
}

/**
 * The management interface.
 *
 * @see Interface, section 5: HTTP Basic
 */
export function managementService(baseUrl: string, username: string, password: string): Service {
  return {
    baseUrl,
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
    addressSetting: "rekey:baseUrl",
    pathSetting: "rekey:resetPasswordPath",
    credentialSettings: "rekey:username and rekey:password",
  };
}

/**
 * The message queue's interface.
 *
 * @see Interface, section 5: bearer token
 */
export function queueService(baseUrl: string, token: string): Service {
  return {
    baseUrl,
    authorization: `Bearer ${token}`,
    addressSetting: "rekey:queueUrl",
    pathSetting: "rekey:flowControlResetAction",
    credentialSettings: "rekey:queueToken",
  };
}
