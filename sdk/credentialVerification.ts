import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, refuseResource, resourceTitle } from "./dynamicResource";
import { type ConnectionArgs } from "./rotation";

/** How a credential is tried over HTTP. */
export interface HttpProbeArgs {
  /**
   * With https, or http on a loopback address. `{credential}` in its query is replaced by the credential,
   * percent-encoded. Redirects are not followed.
   */
  url: pulumi.Input<string>;
  /**
   * `{credential}` in a value is replaced by the credential.
   *
   * @default `Authorization: Bearer {credential}`, if `{credential}` is neither here nor in the query
   */
  headers?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
  /**
   * `GET`, or `POST` without a body.
   *
   * @default GET
   */
  method?: pulumi.Input<"GET" | "POST"> | undefined;
  /**
   * With it, the credential is sent as the password of this user (HTTP Basic). A wrong password may lock an account, so
   * none is sent unless `refusedStatuses` is set. It cannot be used with a header `Authorization` of your own.
   */
  username?: pulumi.Input<string> | undefined;
  /**
   * The statuses that mean that the credential is accepted: from 200 to 499, without 429.
   *
   * @default 2xx
   */
  acceptedStatuses?: pulumi.Input<number[]> | undefined;
  /**
   * The statuses that mean that it is refused, in the same range. With `[]`, no wrong credential is tried, and no
   * former one is remembered.
   *
   * @default those of 401 and 403 that are not in `acceptedStatuses`
   */
  refusedStatuses?: pulumi.Input<number[]> | undefined;
}

/** The arguments of `CredentialVerification`: `access`, or `credential` and `http`. */
export interface CredentialVerificationArgs {
  /** The output `access` of the rotation, or of the fleet, to verify. */
  access?: pulumi.Input<string> | undefined;
  /**
   * The credential to try over HTTP, for example a key that the program creates. It is always a secret, and is sent to
   * the host of `http` only. Another one replaces the verification.
   */
  credential?: pulumi.Input<string> | undefined;
  /** How `credential` is tried. Changing it tries the credential again. */
  http?: pulumi.Input<HttpProbeArgs> | undefined;
  /**
   * With `http`: whether a credential that is replaced is remembered, so that later `up`s can prove that it is
   * refused. False is for keys that stay valid after the `up`. Pulumi saves the current one, encrypted, in any case.
   *
   * @default true
   */
  saveCredentials?: pulumi.Input<boolean> | undefined;
  /**
   * With `http`, for a key that a person makes: `value` of its `RotationTrigger`. Each `up` warns while only one of
   * this value and `credential` was replaced.
   *
   * @default none
   */
  triggerValue?: pulumi.Input<string> | undefined;
  /**
   * Where, and as which user, to connect to databases. What it sets overrides the `connection` of the rotation or
   * fleet. Changing it does not trigger another verification.
   *
   * @default the connection of the rotation or fleet
   */
  connection?: pulumi.Input<ConnectionArgs> | undefined;
  /**
   * How long the verification is repeated, in seconds, because platforms may apply a reset with a delay. It applies to
   * all databases of a fleet together; each database gets at least one attempt. Changing it does not trigger another
   * verification.
   *
   * @default 30
   */
  withinSeconds?: pulumi.Input<number> | undefined;
}

/**
 * After each rotation, verifies that the new password or token is accepted, and that a wrong one and the one that the
 * last verification accepted are refused. It connects to databases over the Redis protocol and sends only `AUTH`; if
 * only a REST token is known, it sends `PING` over HTTPS. It sends a GET to indexes (`/info`) and to the queue
 * (`/v2/globalParallelism`). A failed verification fails the run; the next `up` verifies again and resets nothing.
 * A former one that is still valid is not tried. Previews, refresh and destroy make no requests.
 *
 * With `credential` and `http`, it proves a key that another provider creates: that it is accepted, and a wrong one
 * refused. Consumers take its output `credential`, so that they get a key only once it is proven. The former key is
 * deleted after that, at the end of the `up`, so each later `up` tries it until it is refused, and warns until then.
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
export class CredentialVerification<
  Credential extends string | undefined = string | undefined,
> extends DynamicResource {
  /** The id, `verification`. */
  declare readonly subject: pulumi.Output<string>;
  /** With `http`: the credential, once it is proven. Give this one to consumers. Secret. */
  declare readonly credential: pulumi.Output<Credential>;
  /**
   * True if the current password or token was verified; for a fleet, if all of them were. False if no credential is
   * known.
   */
  declare readonly verified: pulumi.Output<boolean>;
  /** Time of the last verification (ISO 8601, UTC). */
  declare readonly verifiedAt: pulumi.Output<string | undefined>;
  /**
   * `true` if the old password or token was refused; for a fleet, if all of them were. With `http`, `false` if a later
   * `up` has tried an old one, and it was accepted. Undefined if there is no old one, or if one was not tried, for
   * example after a rotation that was not verified.
   */
  declare readonly formerRefused: pulumi.Output<boolean | undefined>;
  /**
   * With `http`: number of credentials that were replaced and are not refused yet. Later `up`s try up to 12 of them: 12
   * means 12 or more.
   */
  declare readonly formersValid: pulumi.Output<number | undefined>;
  /**
   * JSON text of the last results and of the credentials that were accepted, which must be refused after the next
   * reset. For credentials that the rotation does not save, it contains only salted hashes. Secret.
   */
  declare readonly memory: pulumi.Output<string>;

  /** @throws RekeyError if `access` is a resource instead of its output */
  constructor(
    name: string,
    args: CredentialVerificationArgs & { credential?: pulumi.Input<Credential> },
    options?: pulumi.CustomResourceOptions,
  ) {
    refuseResource(resourceTitle("CredentialVerification", name), args.access);
    super("CredentialVerification", name, args, options);
  }
}
