import * as pulumi from "@pulumi/pulumi";
import { DynamicResource, resourceTitle, refuseProgram } from "./dynamicResource";
import { type ConnectionArgs } from "./rotation";

/** The arguments of `CredentialVerification`. */
export interface CredentialVerificationArgs {
  /** The output `access` of the rotation, or of the fleet, to verify. */
  access: pulumi.Input<string>;
  /**
   * Where, and as which user, to connect to databases. What it sets has precedence over the `connection` of the
   * rotation or fleet. Changing it verifies nothing again.
   *
   * @default as the rotation or fleet
   */
  connection?: pulumi.Input<ConnectionArgs> | undefined;
  /**
   * Seconds for which the verification is repeated, for all databases together, because platforms apply a reset with a
   * delay. Each database gets at least one attempt. Changing it verifies nothing again.
   *
   * @default 30
   */
  withinSeconds?: pulumi.Input<number> | undefined;
}

/**
 * Verifies after each rotation that the new password or token is accepted, and that a wrong one and the one that the
 * last verification accepted are refused. It connects to databases by the Redis protocol and sends only `AUTH`, or
 * `PING` over HTTPS if a REST token is known and no password. It sends a GET to indexes (`/info`) and to the queue
 * (`/v2/globalParallelism`). A failed verification fails the run; the next `up` verifies again and resets nothing.
 * Previews, refresh and destroy contact nothing.
 *
 * @example
 * ```ts
 * const rotation = new PasswordRotation("sessions", {
 *   databaseId: "96ad0856-03b1-4ee7-9666-e81abd0349e1",
 *   initialRotation: false, // without this line, the first `pulumi up` resets the password
 *   rotateEvery: "30d",
 * });
 * const verification = new CredentialVerification("sessions", { access: rotation.access });
 * export const verifiedAt = verification.verifiedAt;
 * ```
 */
export class CredentialVerification extends DynamicResource {
  /** The id, `verification`. */
  declare readonly subject: pulumi.Output<string>;
  /** Whether the current password or token was verified, of a fleet each one; false if no credential is known. */
  declare readonly verified: pulumi.Output<boolean>;
  /** Time of the last verification (ISO 8601, UTC). */
  declare readonly verifiedAt: pulumi.Output<string | undefined>;
  /**
   * `true` if the former password or token was refused, of a fleet each one; undefined if there is none, or one was not
   * tried, as after a rotation that was not verified.
   */
  declare readonly formerRefused: pulumi.Output<boolean | undefined>;
  /**
   * JSON text of the last results, and of the credentials that were accepted, which must be refused after the next
   * reset. Those that the rotation does not save have only marks in it. Secret.
   */
  declare readonly memory: pulumi.Output<string>;

  constructor(
    name: string,
    args: CredentialVerificationArgs,
    options?: pulumi.CustomResourceOptions,
  ) {
    requireOutput(name, args.access);
    super("CredentialVerification", name, args, options);
  }
}

/** @throws RekeyError for a whole resource, which JavaScript lets pass: the provider would refuse it after the reset */
function requireOutput(name: string, access: unknown): void {
  if (!pulumi.Resource.isInstance(access)) return;
  const of = resourceTitle("CredentialVerification", name);
  const text = `${of}: access is a resource, and must be its output: write \`rotation.access\` in place of \`rotation\`. Nothing was sent.`;
  refuseProgram("REKEY_INPUT_INVALID", text);
}
