import * as pulumi from "@pulumi/pulumi";
import { databaseFields, type DatabaseRecord } from "../provider/records/database";
import { secretPasswordRotationOutputs } from "../provider/lifecycle/resource";
import { type Outcome, type RotationReason } from "../provider/rotation/planRotation";
import { type Fields, type FieldValue } from "../provider/records/fields";
import { DynamicResource, isOfType } from "./dynamicResource";
import { nextRotation } from "./nextRotation";
import { ownersFor } from "./owners";
import { requireKnown } from "./requireKnown";

const type = "PasswordRotation";

/** Each field of a record as an output. */
export type OutputsOf<F extends Fields> = { readonly [K in keyof F]: pulumi.Output<FieldValue<F[K]> | undefined> };

/** What a `PasswordRotation` is made of. */
export interface PasswordRotationArgs {
  /** Id of the database. A change makes a new resource, and so a reset of the other database. */
  databaseId: pulumi.Input<string>;
  /**
   * The password is reset when this changes. How it is written does not matter: `1` and `"1"` are the same.
   *
   * @default none: no reset is asked for by version
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change resets the password, together with `version`. Taking all of them away resets nothing.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
  /**
   * Time after which the first `up` resets the password again: an ISO 8601 duration (`P30D`, `PT12H`) or `30d`, `12h`.
   * It counts from the last confirmed reset, on an adopted database from its adoption.
   *
   * @default none: only a changed trigger resets
   */
  rotateEvery?: pulumi.Input<string> | undefined;
  /**
   * Whether creating the resource resets the password. `false` adopts the database as it is: the record and the
   * credentials are then undefined until the first reset.
   *
   * @default true
   */
  initialRotation?: pulumi.Input<boolean> | undefined;
}

/**
 * Rotates the password of a hosted database: when it is created, when its trigger changes, and when it is due. Preview,
 * refresh, destroy and import never reset anything.
 *
 * Each field of the database's record is an output of its own besides `record`.
 *
 * @see Interface, section 4.1
 */
export class PasswordRotation extends DynamicResource {
  /** Id of the database. */
  declare readonly databaseId: pulumi.Output<string>;
  /** The database's record as the platform returned it with the last reset; undefined before the first one. */
  declare readonly record: pulumi.Output<DatabaseRecord | undefined>;
  /** Exact digits of the record's integers beyond 2^53, by field. */
  declare readonly exactIntegers: pulumi.Output<Record<string, string> | undefined>;
  /** The new password, where the platform sends it. Secret. */
  declare readonly password: pulumi.Output<string | undefined>;
  /** Token of the REST interface, where the platform sends it. Secret. */
  declare readonly restToken: pulumi.Output<string | undefined>;
  /** Token of the REST interface that may only read, where the platform sends it. Secret. */
  declare readonly readOnlyRestToken: pulumi.Output<string | undefined>;
  /** JSON text of what the platform sent and Rekey does not know. Secret. */
  declare readonly otherFields: pulumi.Output<string | undefined>;
  /** What of the platform's answer was missing or unreadable, a line each; empty when all was well. */
  declare readonly problems: pulumi.Output<string[] | undefined>;
  /** Time of the last confirmed reset (ISO 8601, UTC). */
  declare readonly rotatedAt: pulumi.Output<string | undefined>;
  /** Time at which the database was adopted without a reset (ISO 8601, UTC). */
  declare readonly adoptedAt: pulumi.Output<string | undefined>;
  /** Confirmed resets by this resource. */
  declare readonly rotationCount: pulumi.Output<number>;
  /** Why the last confirmed reset was made. */
  declare readonly rotationReason: pulumi.Output<RotationReason | undefined>;
  /** How things stand: `reset`, `adopted`, or `unknown` when the platform did not confirm the last reset. */
  declare readonly outcome: pulumi.Output<Outcome>;
  /** Mark of the trigger that was answered last. Secret, because a version may be one. */
  declare readonly appliedTrigger: pulumi.Output<string | undefined>;
  /** Mark of the trigger whose reset was not confirmed, until one is. Secret. */
  declare readonly attemptedTrigger: pulumi.Output<string | undefined>;
  /** Resets in a row that were not confirmed; undefined when the last one was. */
  declare readonly unconfirmedResets: pulumi.Output<number | undefined>;
  /** Time from which the next `up` resets the password by `rotateEvery` (ISO 8601, UTC). */
  readonly nextRotationAt: pulumi.Output<string | undefined>;

  /**
   * @param name unique name of the resource in its stack. A rename without `aliases` makes a new resource, and so a
   * reset.
   * @throws RunError if Pulumi's provider host would not find or configure this package, and for the options `import`
   * and `id`.
   */
  constructor(name: string, args: PasswordRotationArgs, options?: pulumi.CustomResourceOptions) {
    const owners = ownersFor(type, name, args.databaseId, options?.parent);
    const inputs = { ...undefinedOutputs, ...args, ...owners };
    super(type, "passwordRotation", name, inputs, secretPasswordRotationOutputs, options);
    // A lost response is an error of the engine's, unless the former outputs are too large for one. The run then fails
    // here, and nothing gets the former credentials in place of the new ones.
    const known = this.outcome.apply((outcome) => requireKnown(outcome, name));
    for (const output of credentialOutputs) {
      const credential = this[output];
      Object.assign(this, { [output]: pulumi.all([credential, known]).apply(([value]) => value) });
    }
    this.nextRotationAt = pulumi
      .all([this.rotatedAt, this.adoptedAt, args.rotateEvery])
      .apply(([rotatedAt, adoptedAt, every]) => nextRotation(rotatedAt ?? adoptedAt, every));
  }

  /** Whether an object is a PasswordRotation, also one of another copy of this package. */
  static override isInstance(this: void, object: unknown): object is PasswordRotation {
    return isOfType(type, object);
  }
}

export interface PasswordRotation extends OutputsOf<Omit<typeof databaseFields, "databaseId">> {}

/** Outputs that hold what the platform sent with the last reset and nothing must use while the reset is unconfirmed. */
const credentialOutputs = ["password", "restToken", "readOnlyRestToken", "otherFields"] as const;

/** An output exists only where its name is among the inputs. */
const undefinedOutputs = Object.fromEntries(
  [
    "record",
    "exactIntegers",
    "problems",
    "outcome",
    "rotatedAt",
    "adoptedAt",
    "rotationCount",
    "rotationReason",
    "unconfirmedResets",
    ...secretPasswordRotationOutputs,
  ].map((name) => [name, undefined]),
);

// Getters, made when used: as 45 declared outputs they would cost 11 ms a resource in each preview.
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
