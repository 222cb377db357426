import type * as pulumi from "@pulumi/pulumi";
import { Rotation, type RotationArgs } from "./rotation";

/** The arguments of `SigningKeyRotation`. */
export interface SigningKeyRotationArgs extends RotationArgs {
  /**
   * The shortest time between two rolls: an ISO 8601 duration (`PT2H`), or `2h`; `0s` allows a second roll right away.
   * It starts at the last roll, even an unconfirmed one, or at the read that noticed a roll by someone else. Until it
   * has elapsed, a changed trigger is refused, `rotateEvery` is postponed, with a warning, and each `up` reads the
   * keys. Receivers must have the keys of one roll before the next.
   *
   * @default 1h
   */
  minInterval?: pulumi.Input<string> | undefined;
}

/**
 * Rolls the keys that sign the messages of the queue: when it is created, when its trigger changes, and when
 * `rotateEvery` has elapsed. A roll makes the next key the current one and generates a new next key, so receivers that
 * know both keys lose no message. A second roll before they have the new keys causes an outage, which `minInterval`
 * prevents. To replace both keys, roll twice and update the receivers between the rolls. An account has one pair of
 * keys for each region; `rekey:queueUrl` decides which.
 *
 * @example
 * ```ts
 * const keys = new SigningKeyRotation("keys", {
 *   initialRotation: false, // without this line, the first `pulumi up` rolls the keys
 *   rotateEvery: "90d",
 * });
 * export const receiver = { currentSigningKey: keys.currentKey, nextSigningKey: keys.nextKey };
 * ```
 */
export class SigningKeyRotation extends Rotation {
  /** The id, `signing-keys`. */
  declare readonly subject: pulumi.Output<string>;
  /** The key that signs messages. Secret. */
  declare readonly currentKey: pulumi.Output<string | undefined>;
  /** The key that signs messages after the next roll. Secret. */
  declare readonly nextKey: pulumi.Output<string | undefined>;
  /** Time at which the current key was generated (ISO 8601, UTC); undefined if Rekey did not see it. */
  declare readonly generatedAt: pulumi.Output<string | undefined>;

  constructor(
    name: string,
    args: SigningKeyRotationArgs = {},
    options?: pulumi.CustomResourceOptions,
  ) {
    super("SigningKeyRotation", name, args, options);
  }
}
