import type * as pulumi from "@pulumi/pulumi";
import { type QueueUserRecord } from "../provider/records/otherSecrets";
import { type RotationArgs, RotationWithRecord } from "./rotation";

/** The arguments of `QueueTokenRotation`. */
export interface QueueTokenRotationArgs extends RotationArgs {
  /**
   * Id of the queue user, a UUID; an account has one for each region. Changing it replaces the resource, and so resets
   * the tokens of the other user.
   */
  queueUserId: pulumi.Input<string>;
}

/**
 * Rotates the tokens of the message queue: when it is created, when its trigger changes, and when `rotateEvery` is due.
 * Previews, refresh, destroy and import never reset anything. If Rekey rolls the signing keys with this token in the
 * same program, make this resource depend on the keys: a roll with the former token is rejected.
 *
 * @example
 * ```ts
 * const queueUserId = "7b1ad1c2-0e7e-4e0c-9d3f-0c2c1c1f5a11";
 * const queue = new QueueTokenRotation("queue", {
 *   queueUserId,
 *   initialRotation: false, // without this line, the first `pulumi up` resets the token
 *   rotateEvery: "30d",
 * });
 * export const token = queue.token;
 * ```
 */
export class QueueTokenRotation extends RotationWithRecord {
  /** Id of the queue user. */
  declare readonly queueUserId: pulumi.Output<string>;
  /** The record as the platform returned it with the last reset or a later read; undefined before the first of them. */
  declare readonly record: pulumi.Output<QueueUserRecord | undefined>;
  /** The token, if the platform showed it with the last reset or a later read. Secret. */
  declare readonly token: pulumi.Output<string | undefined>;
  /** The read-only token, if the platform showed it with the last reset or a later read. Secret. */
  declare readonly readOnlyToken: pulumi.Output<string | undefined>;

  constructor(name: string, args: QueueTokenRotationArgs, options?: pulumi.CustomResourceOptions) {
    super("QueueTokenRotation", name, args, options);
  }
}
