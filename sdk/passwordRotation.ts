import * as pulumi from "@pulumi/pulumi";
import { databaseFields, type DatabaseRecord } from "../provider/records/database";
import { type Outcome, type RotationReason, nextRotation } from "../provider/rotation/planRotation";
import { type Fields, type FieldValue } from "../provider/records/fields";
import { rememberConnection, withConnection, type ConnectionArgs } from "./connection";
import { DynamicResource, isOfType, type ResourceType, urnOf } from "./dynamicResource";
import { ownersFor, runError } from "./program";
import { withoutConnection } from "../provider/rotation/connection";
import { restUrlFor, urlFor } from "../provider/rotation/endpoint";
import { databasePassword } from "../provider/rotation/kinds/databasePassword";
import { outputsOf, secretOutputsOf } from "../provider/rotation/outputs";

const resourceType: ResourceType = {
  type: "PasswordRotation",
  provider: "passwordRotation",
  outputs: outputsOf(databasePassword),
  secretOutputs: secretOutputsOf(databasePassword),
  retainOnDelete: true,
};

/** Each field of a record as an output. */
export type OutputsOf<F extends Fields> = { readonly [K in keyof F]: pulumi.Output<FieldValue<F[K]> | undefined> };

/** The arguments of `PasswordRotation`. */
export interface PasswordRotationArgs extends ConnectionArgs {
  /** Id of the database. Changing it replaces the resource, and so resets the other database. */
  databaseId: pulumi.Input<string>;
  /**
   * The password is reset when this changes. `1` and `"1"` are the same.
   *
   * @default none
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change resets the password, in addition to `version`. Removing all of them resets nothing.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
  /**
   * The first `up` after this time resets the password: an ISO 8601 duration (`P30D`, `PT12H`), or `30d`, `12h`. It
   * counts from the last confirmed reset, or from the adoption of an adopted database. Changing it only moves the time
   * of the next reset.
   *
   * @default none: only a changed trigger resets
   */
  rotateEvery?: pulumi.Input<string> | undefined;
  /**
   * Whether creating the resource resets the password. `false` adopts the database unchanged: the record and the
   * credentials are read if `rekey:databasePath` is set, and are undefined until the first reset otherwise. It counts
   * only when the resource is created.
   *
   * @default true
   */
  initialRotation?: pulumi.Input<boolean> | undefined;
}

/**
 * Rotates the password of a hosted database: when it is created, when its trigger changes, and when `rotateEvery` is
 * due. Previews, refresh, destroy and import never reset anything.
 *
 * Each field of the database's record is also an output: `endpoint`, `port`, `tls` and so on.
 *
 * @see docs/interface.md#reset-a-password
 * @example
 * ```ts
 * const sessions = new PasswordRotation("sessions", { databaseId: "db-sessions", rotateEvery: "30d" });
 * export const password = sessions.password;
 * ```
 */
export class PasswordRotation extends DynamicResource {
  /** Id of the database. */
  declare readonly databaseId: pulumi.Output<string>;
  /**
   * The database's record as the platform returned it with the last reset, or with a later read at an adoption or a
   * refresh, if `rekey:databasePath` is set. Undefined before the first of them.
   */
  declare readonly record: pulumi.Output<DatabaseRecord | undefined>;
  /** Exact digits of the record's integers beyond 2^53, by field. */
  declare readonly exactIntegers: pulumi.Output<Record<string, string> | undefined>;
  /** The password, if the platform returned it with the last reset or a later read. Secret. */
  declare readonly password: pulumi.Output<string | undefined>;
  /** Token of the REST interface, if the platform returned it with the last reset or a later read. Secret. */
  declare readonly restToken: pulumi.Output<string | undefined>;
  /**
   * Read-only token of the REST interface, if the platform returned it with the last reset or a later read. Secret.
   */
  declare readonly readOnlyRestToken: pulumi.Output<string | undefined>;
  /** JSON text of the fields that Rekey does not know. Secret. */
  declare readonly otherFields: pulumi.Output<string | undefined>;
  /** The parts of the platform's response that could not be read, one per line. Empty if there was none. */
  declare readonly problems: pulumi.Output<string[] | undefined>;
  /** Time of the last confirmed reset (ISO 8601, UTC). */
  declare readonly rotatedAt: pulumi.Output<string | undefined>;
  /** Time at which the database was adopted without a reset (ISO 8601, UTC). */
  declare readonly adoptedAt: pulumi.Output<string | undefined>;
  /** Number of confirmed resets by this resource. */
  declare readonly rotationCount: pulumi.Output<number>;
  /** Why the last confirmed reset was made; undefined if a later `up` or refresh found that it was applied. */
  declare readonly rotationReason: pulumi.Output<RotationReason | undefined>;
  /** `reset`, `adopted`, or `unknown` if the platform did not confirm the last reset. */
  declare readonly outcome: pulumi.Output<Outcome>;
  /** Mark of the trigger of the last reset. Secret, because a version may be. */
  declare readonly appliedTrigger: pulumi.Output<string | undefined>;
  /** Mark of the trigger whose reset was not confirmed, until one is. Secret. */
  declare readonly attemptedTrigger: pulumi.Output<string | undefined>;
  /** Mark of the platform's address and user name at the last reset or the adoption. Secret. */
  declare readonly account: pulumi.Output<string | undefined>;
  /** Marks of former credentials, with which Rekey recognizes an outdated response. Secret. */
  declare readonly formerMarks: pulumi.Output<string | undefined>;
  /**
   * Credentials that the database is known to have, and that the platform did not show with the new ones. The next `up`
   * or refresh reads them once more. Undefined if none is missing.
   */
  declare readonly missingCredentials: pulumi.Output<string[] | undefined>;
  /** Number of unconfirmed resets in a row; undefined if the last one was confirmed. */
  declare readonly unconfirmedResets: pulumi.Output<number | undefined>;
  /** The next `up` after this time resets the password because of `rotateEvery` (ISO 8601, UTC). */
  readonly nextRotationAt: pulumi.Output<string | undefined>;

  /**
   * @param name unique name of the resource in its stack. Renaming it without `aliases` replaces it, and so resets.
   * @throws RekeyError if Pulumi's provider host cannot find or configure this package, for the options `import` and
   * `id`, and if an argument of the connection cannot be used.
   */
  constructor(name: string, args: PasswordRotationArgs, options?: pulumi.CustomResourceOptions) {
    const of = `PasswordRotation ${JSON.stringify(name)}`;
    const owners = ownersFor(of, urnOf(resourceType, name, options?.parent), args.databaseId);
    super(resourceType, name, { ...withoutConnection(args), ...owners }, options);
    rememberConnection(this, of, args, true);
    // The provider fails an unconfirmed reset, unless the former outputs are too large for its error. The run then
    // fails here, and nothing uses the former credentials.
    const known = this.outcome.apply((outcome) => requireKnown(of, outcome));
    for (const output of credentialOutputs) {
      const credential = this[output];
      Object.assign(this, { [output]: pulumi.all([credential, known]).apply(([value]) => value) });
    }
    this.nextRotationAt = pulumi
      .all([this.rotatedAt, this.adoptedAt, args.rotateEvery])
      .apply(([rotatedAt, adoptedAt, every]) => nextRotation(rotatedAt ?? adoptedAt, every));
  }

  /**
   * The URL with which clients of Redis connect: `rediss://user:password@host:port`, or `redis://` without TLS.
   * Undefined if the password is not known. Secret.
   *
   * @remarks Not saved, but derived from the saved outputs and the arguments `host`, `port`, `tls` and `username`.
   */
  get connectionUrl(): pulumi.Output<string | undefined> {
    return this.#urlFrom(this.password, urlFor);
  }

  /**
   * The URL of the REST interface: `https://` and the host. Undefined if `restToken` is not known. Secret.
   *
   * @remarks Not saved, but derived from the saved outputs and the argument `host`.
   */
  get restUrl(): pulumi.Output<string | undefined> {
    return this.#urlFrom(this.restToken, restUrlFor);
  }

  #urlFrom(credential: pulumi.Output<string | undefined>, urlOf: typeof urlFor): pulumi.Output<string | undefined> {
    const values = pulumi.all([this.databaseId, this.record, credential]);
    return pulumi.secret(
      withConnection(this, values, ([databaseId, record, known], connection, setting) =>
        urlOf({ databaseId, record }, connection, known, setting),
      ),
    );
  }

  /** Whether an object is a PasswordRotation, even from another copy of this package. */
  static override isInstance(this: void, object: unknown): object is PasswordRotation {
    return isOfType(resourceType, object);
  }
}

export interface PasswordRotation extends OutputsOf<Omit<typeof databaseFields, "databaseId">> {}

/** Outputs of the last confirmed reset that must not be used while a later reset is unconfirmed. */
const credentialOutputs = ["password", "restToken", "readOnlyRestToken", "otherFields"] as const;

// Getters: 45 declared outputs would take 11 ms per resource in each preview.
for (const name of Object.keys(databaseFields) as (keyof typeof databaseFields)[]) {
  if (name === "databaseId") continue;
  Object.defineProperty(PasswordRotation.prototype, name, {
    configurable: true,
    enumerable: true,
    get(this: PasswordRotation) {
      return this.record.apply((record) => record?.[name]);
    },
  });
}

/** @throws RekeyError if the last reset was not confirmed: a program must not use the former credentials. */
function requireKnown(of: string, outcome: Outcome): void {
  if (outcome !== "unknown") return;
  throw runError(
    "REKEY_UNCONFIRMED",
    `${of}: the last reset was not confirmed. The password may have been changed, and the new one is unknown. ` +
      `The credentials in this stack are the former ones. Run \`up\` again: it sends one more reset, unless the platform shows that the last one was applied.`,
  );
}
