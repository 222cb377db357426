import * as pulumi from "@pulumi/pulumi";
import { InputError } from "../provider/platform/errors";
import { isSet } from "../provider/records/fields";
import { type NamesOf, refuseUnknown, secondsProblem } from "../provider/rotation/arguments";
import {
  secretPasswordVerificationOutputs,
  shownVerificationOutputs,
  unverifiedWarning,
} from "../provider/verification/passwordVerification";
import { connectionArguments, withConnection, type ConnectionArgs } from "./connection";
import { type Connection } from "../provider/rotation/connection";
import { type FoundSetting } from "../provider/settings/foundSetting";
import { DynamicResource, isOfType, type ResourceType, valueOnly } from "./dynamicResource";
import { checked } from "./program";
import { isKnown } from "./pulumiInternals";
import { kinds } from "../provider/rotation/kinds/kinds";
import { type SearchTokenRotation, type VectorTokenRotation } from "./indexTokenRotation";
import { type PasswordRotation } from "./passwordRotation";
import { PasswordRotationFleet } from "./passwordRotationFleet";
import { type QueueTokenRotation } from "./queueTokenRotation";
import { savedOutputs } from "./rotation";
import {
  accessTo,
  subjectText,
  targetsFrom,
  targetsText,
  verifiableType,
  type VerifiableType,
  verifiedArgument,
  verifiedOutputs,
} from "../provider/verification/targets";

const resourceType: ResourceType = {
  type: "PasswordVerification",
  outputs: shownVerificationOutputs,
  secretOutputs: secretPasswordVerificationOutputs,
};

/** The arguments of `PasswordVerification`: either `rotation` or `fleet`. */
export type PasswordVerificationArgs = PasswordVerificationOptions &
  (
    | {
        /** The rotation to verify: not one of signing keys, of which a read is the proof. */
        rotation: PasswordRotation | VectorTokenRotation | SearchTokenRotation | QueueTokenRotation;
        /** Not together with `rotation`. */
        fleet?: undefined;
      }
    | {
        /**
         * The fleet to verify. It needs `includeRecords: true`; otherwise set `port`, and a `host` that does not
         * contain `{endpoint}`.
         */
        fleet: PasswordRotationFleet;
        /** Not together with `fleet`. */
        rotation?: undefined;
      }
  );

/** The optional arguments of `PasswordVerification`. Those of the connection have precedence over the rotation's. */
export interface PasswordVerificationOptions extends ConnectionArgs {
  /**
   * Seconds for which the verification is repeated, for all databases together, because platforms apply a reset with a
   * delay. Each database gets at least one attempt. Changing it verifies nothing again.
   *
   * @default 30
   */
  withinSeconds?: pulumi.Input<number> | undefined;
}

const argumentNames: NamesOf<PasswordVerificationArgs> = {
  rotation: true,
  fleet: true,
  withinSeconds: true,
  ...connectionArguments,
};

/**
 * Verifies after each rotation that the new password or token is accepted, and that the former ones that earlier
 * verifications tried are refused. It connects to databases by the Redis protocol and sends `AUTH` and `PING` only, or
 * `PING` over HTTPS if a REST token is known and no password. It sends a GET to indexes (`/info`) and to the queue
 * (`/v2/globalParallelism`). A failed verification fails the run; the next `up` verifies again and resets nothing.
 * Previews, refresh and destroy contact nothing.
 *
 * @throws RekeyError if Pulumi's provider host cannot find or configure this package, for the options `import` and
 * `id`, and for arguments that do not exist or cannot be used.
 * @example
 * ```ts
 * const rotation = new PasswordRotation("sessions", {
 *   databaseId: "96ad0856-03b1-4ee7-9666-e81abd0349e1",
 *   initialRotation: false, // without this line, the first `pulumi up` resets the password
 *   rotateEvery: "30d",
 * });
 * const verification = new PasswordVerification("sessions", { rotation });
 * export const verifiedAt = verification.verifiedAt;
 * ```
 */
export class PasswordVerification extends DynamicResource {
  /** Whether the current password or token was verified, of a fleet each one; false if no credential is known. */
  declare readonly verified: pulumi.Output<boolean>;
  /** Time of the last verification (ISO 8601, UTC). */
  declare readonly verifiedAt: pulumi.Output<string | undefined>;
  /**
   * `true` if all former passwords or tokens were refused; undefined if there is none, or one is not known: after
   * a rotation that was not verified, or more than five failed verifications in a row.
   */
  declare readonly formerRefused: pulumi.Output<boolean | undefined>;

  constructor(name: string, args: PasswordVerificationArgs, options?: pulumi.CustomResourceOptions) {
    const of = `PasswordVerification ${JSON.stringify(name)}`;
    const { subject, targets } = verifiedBy(of, args);
    const withinSeconds = pulumi.output(args.withinSeconds).apply((seconds) => checked(of, () => usable(seconds)));
    const inputs = { subject, targets: pulumi.secret(targets.apply(targetsText)), withinSeconds };
    super(resourceType, name, inputs, options);
    if (pulumi.runtime.isDryRun()) return;
    pulumi.all([this.verified, targets]).apply(([verified, all]) => {
      const warning = verified === false ? unverifiedWarning(all) : undefined;
      return warning === undefined ? undefined : pulumi.log.warn(warning, this);
    });
  }

  /** Whether an object is a PasswordVerification, even from another copy of this package. */
  static override isInstance(this: void, object: unknown): object is PasswordVerification {
    return isOfType(resourceType, object);
  }
}

/**
 * The type of the rotation to verify; undefined for a fleet.
 *
 * @throws InputError if an argument does not exist, or the resource to verify is not one
 */
function verifiedType(args: PasswordVerificationArgs): VerifiableType | undefined {
  refuseUnknown("its arguments", args, argumentNames);
  if (verifiedArgument(args) === "rotation") {
    const type = Object.keys(kinds).find((one) => isOfType({ type: one }, args.rotation));
    return verifiableType(type, args);
  }
  if (!(args.fleet instanceof PasswordRotationFleet)) throw new InputError("fleet", "must be a PasswordRotationFleet");
  return undefined;
}

/** @throws InputError if the value of `withinSeconds` is not */
function usable(seconds: number | undefined): number | undefined {
  const wrong = isSet(seconds) ? secondsProblem(seconds) : undefined;
  if (wrong !== undefined) throw new InputError("withinSeconds", wrong);
  return seconds;
}

/** The inputs that say what is verified. */
function verifiedBy(of: string, args: PasswordVerificationArgs) {
  const type = checked(of, () => verifiedType(args));
  const resource = args.rotation ?? args.fleet;
  const all = resource as unknown as Readonly<Record<string, pulumi.Output<unknown>>>;
  const saved = savedOutputs.get(resource) ?? {};
  const names = verifiedOutputs(type);
  const outputOf = (name: string) => {
    const output = saved[name] ?? all[name];
    return type === undefined || name === "rotationCount" ? output : orUndefined(output);
  };
  const outputs = pulumi.output(Object.fromEntries(names.map((name) => [name, outputOf(name)])));
  const targetsAt = (known: Readonly<Record<string, unknown>>, at: Connection, setting: FoundSetting | undefined) =>
    targetsFrom(type, known, (_name, database, credentials) => accessTo(database, at, credentials, setting));
  return {
    subject: type ? all[kinds[type].idInput]?.apply((id) => subjectText(type, id as string)) : valueOnly(resource.urn),
    targets: withConnection(resource, outputs, targetsAt, { of, args }),
  };
}

/**
 * In a preview, an output that is undefined counts as unknown, although its resource may be unchanged. If it is not,
 * the rotation count is unknown as well.
 */
function orUndefined(output: unknown): unknown {
  if (!pulumi.runtime.isDryRun() || !pulumi.Output.isInstance(output)) return output;
  return isKnown(output).then((known) => (known ? output : undefined));
}
