import * as pulumi from "@pulumi/pulumi";
import { resourceOf } from "../provider/engine/resources";
import { outputsAreFormer } from "../provider/domain/errors";
import { secretOutputsOf } from "../provider/resource/resource";
import { type RotationReason } from "../provider/rotation/memory/memory";
import { type Outcome } from "../provider/rotation/memory/memory";
import { DynamicResource, resourceTitle } from "./dynamicResource";
import { runError } from "./program";

/** The inputs that cause a reset when they change. */
export interface TriggerArgs {
  /**
   * Changing it, for example from `1` to `2`, causes a reset; for a fleet, of all passwords. `1` and `"1"` are equal.
   * Removing it resets nothing if there are no `triggers`.
   *
   * @default none
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change causes a reset, in addition to `version`. Removing all of them resets nothing if there
   * is no `version`.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
}

/** Where, and as which user, clients connect to a database. Changing any of them resets nothing. */
export interface ConnectionArgs {
  /**
   * Host name or IP address, in which `{endpoint}` and `{id}` are replaced by the endpoint and the id of the database.
   *
   * @default `rekey:databaseHost`
   */
  host?: pulumi.Input<string> | undefined;
  /**
   * Port.
   *
   * @default the port in the database's record
   */
  port?: pulumi.Input<number> | undefined;
  /**
   * If `true`, the connection uses TLS. TLS can be switched off for loopback hosts only: a password never travels in
   * plain text.
   *
   * @default true; for loopback hosts, the value in the database's record
   */
  tls?: pulumi.Input<boolean> | undefined;
  /**
   * Name of the user, in which `{id}` is replaced by the id of the database.
   *
   * @default `default`; an empty text leaves it out of the URL
   */
  username?: pulumi.Input<string> | undefined;
}

/** The arguments of every rotation. In a fleet, they apply to each of its databases. */
export interface RotationArgs extends TriggerArgs {
  /**
   * The interval after which `up` resets the secret: an ISO 8601 duration (`P30D`, `PT12H`), or `30d`, `12h`. It starts
   * at the last confirmed reset or at the adoption. Changing it only moves the time of the next reset.
   *
   * @default none: only a changed trigger resets
   */
  rotateEvery?: pulumi.Input<string> | undefined;
  /**
   * Resets the secret if it is older than this: an ISO 8601 date (`2026-04-19`, midnight UTC), or a date and time with
   * a zone (`2026-04-19T18:30:00Z`). A secret's age is the time since its last confirmed reset or, if it was adopted,
   * since its database or index was created. A secret of unknown age is reset. Each date causes at most one confirmed
   * reset. A date more than five minutes in the future is refused. Removing it or setting an earlier date resets
   * nothing. Both signing keys must be newer, which takes two rolls, `minInterval` apart: a warning names the time of
   * the second one.
   *
   * @default none
   */
  rotatedSince?: pulumi.Input<string> | undefined;
  /**
   * If `true`, creating the resource, or adding a database to a fleet, resets the secret. `false` adopts it without a
   * reset, unless it is older than `rotatedSince`: the record and the credentials are read if the platform shows them
   * (for a database, `rekey:databasePath` must be set); otherwise, they are undefined until the first reset. Changing
   * it resets nothing.
   *
   * @default true
   */
  initialRotation?: pulumi.Input<boolean> | undefined;
  /**
   * If `true`, the credentials are saved in the state, as secrets. With `false`, only salted hashes of them are, and
   * the outputs with credentials are undefined: a program that uses one stops (`REKEY_NOT_SAVED`). This needs
   * `encryptFor`, or a platform that shows the credentials; otherwise, nothing is reset. A change takes effect with the
   * next reset: to remove what is saved now, set a new `version`. Older states and backups still contain it.
   *
   * @default true
   */
  saveCredentials?: pulumi.Input<boolean> | undefined;
  /**
   * Recipients of [age](https://age-encryption.org) (`age1…`), for whom `encryptedCredentials` is encrypted. An invalid
   * recipient is refused before anything is sent. If the encryption fails later, new credentials are saved as secrets
   * (`REKEY_NOT_ENCRYPTED`). A change takes effect with the next reset.
   *
   * @default none
   * @example
   * ```ts
   * const rotation = new PasswordRotation("sessions", {
   *   databaseId: "sessions",
   *   initialRotation: false,
   *   saveCredentials: false,
   *   encryptFor: ["age1…"],
   * });
   * export const file = rotation.encryptedCredentials;
   * ```
   */
  encryptFor?: pulumi.Input<string[]> | undefined;
}

/** The argument of rotations that leave the former secret valid until it is retired. */
export interface OverlapArgs {
  /**
   * How long the former secret stays valid. `retirement`: until a `Retirement` retires it, at the end of an `up`.
   * A duration (`24h`), shorter than `rotateEvery`: until the first `up` after that time. `none`:
   * it is replaced at once, and clients are refused until they have the new one. After a rotation for `rotatedSince`,
   * the next `up` retires the former secret in any case. Changing `overlap` makes no request.
   *
   * @default retirement
   */
  overlap?: pulumi.Input<string> | undefined;
}

/**
 * The base class of all rotations. A program cannot use credentials that are not saved, or any credentials after a
 * reset that was not confirmed.
 */
export abstract class Rotation extends DynamicResource {
  /**
   * `reset`; `adopted`; `unknown` if the platform did not confirm the last reset; or `unproven` if a secret was added
   * and not proven, so that the one before is still the current one.
   */
  declare readonly outcome: pulumi.Output<Outcome>;
  /** Time of the last confirmed reset (ISO 8601, UTC). */
  declare readonly rotatedAt: pulumi.Output<string | undefined>;
  /** Time at which the secret was adopted without a reset (ISO 8601, UTC); undefined after the first reset. */
  declare readonly adoptedAt: pulumi.Output<string | undefined>;
  /** Number of confirmed resets by this resource. */
  declare readonly rotationCount: pulumi.Output<number>;
  /** Why the last confirmed reset was made; undefined if it was adopted. */
  declare readonly rotationReason: pulumi.Output<RotationReason | undefined>;
  /**
   * When `rotateEvery` will have elapsed (ISO 8601, UTC): the first `up` after this time, or up to 12 hours before it
   * (a tenth of `rotateEvery`, if that is less), resets the secret.
   */
  declare readonly nextRotationAt: pulumi.Output<string | undefined>;
  /**
   * An ASCII-armored age file for the recipients in `encryptFor`, with a JSON text of all credentials, URLs, the id and
   * `rotatedAt`. It is not a secret, and changes only with the credentials or the recipients. Undefined without
   * `encryptFor`, and until the credentials are known.
   */
  declare readonly encryptedCredentials: pulumi.Output<string | undefined>;
  /** The parts of the platform's response that could not be read. Empty if there were none. */
  declare readonly problems: pulumi.Output<string[] | undefined>;
  /**
   * True if a read has found that the secret is gone, or if it is not known, so that the next `up` reads it. Otherwise
   * undefined.
   */
  declare readonly mustRead: pulumi.Output<true | undefined>;
  /** JSON text of the response's fields that Rekey does not know. Secret. */
  declare readonly otherFields: pulumi.Output<string | undefined>;
  /** JSON text of what Rekey remembers about the secret: salted hashes, never the value of a credential. Secret. */
  declare readonly memory: pulumi.Output<string>;

  protected constructor(
    type: string,
    name: string,
    args: RotationArgs,
    options: pulumi.CustomResourceOptions | undefined,
  ) {
    super(type, name, args, options);
    const of = resourceTitle(type, name);
    // An unconfirmed reset fails, but with `--continue-on-error` or `--target` the engine still gives the program what
    // it has saved: the old credentials, which nothing may use.
    const current = this.outcome.apply((outcome) => {
      if (outcome !== "unknown") return;
      throw runError(
        "REKEY_UNCONFIRMED",
        `${of}: the last reset was not confirmed. The secret may have been changed, and the credentials in this stack are the old ones. ${outputsAreFormer} Run \`up\` again: it settles the reset or says what to do.`,
      );
    });
    const names = secretOutputsOf(resourceOf(type)).filter(
      (output) => output !== "memory" && output !== "access",
    );
    guard(this, of, { names, saveCredentials: args.saveCredentials, current });
  }
}

/** The base class of the rotations of secrets with a record. */
export abstract class RotationWithRecord extends Rotation {
  /** Exact digits of the record's integers beyond 2^53, by field. */
  declare readonly exactIntegers: pulumi.Output<Record<string, string> | undefined>;
  /**
   * JSON text of what a `CredentialVerification` needs: the credential, or its salted hash, and where it is used.
   * Secret.
   */
  declare readonly access: pulumi.Output<string>;
}

/** Outputs with credentials. */
interface GuardedOutputs {
  readonly names: readonly string[];
  readonly saveCredentials: pulumi.Input<boolean> | undefined;
  /** Rejected if the credentials are not the current ones. */
  readonly current?: pulumi.Output<unknown>;
}

/**
 * Makes outputs with credentials stop a program that uses one which is not saved: a consumer must not get an empty one.
 * Their type is not enough: `interpolate` accepts undefined, and would make `redis://:undefined@…`. In a preview, none
 * can be used, even if it is in the state because it could not be encrypted.
 *
 * @param of the resource, for errors
 */
export function guard(
  resource: pulumi.Resource,
  of: string,
  { names, saveCredentials, current }: GuardedOutputs,
): void {
  const outputs = resource as unknown as Readonly<Record<string, pulumi.Output<unknown>>>;
  for (const name of names) {
    const refuse = (): never => {
      throw runError(
        "REKEY_NOT_SAVED",
        `${of}: ${name} is not saved, because of saveCredentials: false, so the program cannot use it. Use encryptedCredentials, read it from the platform when needed, or remove saveCredentials.`,
      );
    };
    const saved = pulumi.all([outputs[name], current]).apply(([value]) => value);
    const get = () =>
      pulumi.output(saveCredentials).apply((isSaved) => {
        if (isSaved !== false) return saved;
        if (pulumi.runtime.isDryRun()) return refuse();
        // Those of a fleet are a map, which may be empty.
        return saved.apply((value) => (Object.keys(value ?? {}).length === 0 ? refuse() : value));
      });
    // A getter, so that only a program that uses the output stops. It is not enumerable, so that one that exports the
    // whole resource does not.
    Object.defineProperty(resource, name, { get, enumerable: saveCredentials !== false });
  }
}
