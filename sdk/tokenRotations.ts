import type * as pulumi from "@pulumi/pulumi";
import { type IndexRecord, type QueueUserRecord } from "../provider/records/otherSecrets";
import { type OverlapArgs, type RotationArgs, RotationWithRecord } from "./rotation";

/** The base class of the rotations of tokens. */
abstract class TokenRotation extends RotationWithRecord {
  /** The token, if the platform showed it with the last reset or a later read. Secret. */
  declare readonly token: pulumi.Output<string | undefined>;
  /** The read-only token, if the platform showed it with the last reset or a later read. Secret. */
  declare readonly readOnlyToken: pulumi.Output<string | undefined>;
}

/** The base class of the rotations of indexes' tokens. */
abstract class IndexTokenRotation extends TokenRotation {
  /** Id of the index. */
  declare readonly indexId: pulumi.Output<string>;
  /** The record as the platform returned it with the last reset or a later read; undefined before the first of them. */
  declare readonly record: pulumi.Output<IndexRecord | undefined>;
  /** URL of the index's REST interface; undefined if no URL with TLS is known. */
  declare readonly restUrl: pulumi.Output<string | undefined>;
}

/** The arguments of `VectorTokenRotation`. */
export interface VectorTokenRotationArgs extends RotationArgs {
  /** Id of the vector index. Changing it replaces the resource, which resets the new index. */
  indexId: pulumi.Input<string>;
}

/**
 * Rotates the tokens of a vector index: when it is created, when its trigger changes, and when `rotateEvery` has
 * elapsed. Previews, refresh, destroy and import never reset anything. The platform's response to the reset has no
 * tokens, so they are read after it.
 *
 * @example
 * ```ts
 * const vectors = new VectorTokenRotation("vectors", {
 *   indexId: "idx-vectors",
 *   initialRotation: false, // without this line, the first `pulumi up` resets the tokens
 *   rotateEvery: "30d",
 * });
 * export const token = vectors.token;
 * ```
 */
export class VectorTokenRotation extends IndexTokenRotation {
  constructor(name: string, args: VectorTokenRotationArgs, options?: pulumi.CustomResourceOptions) {
    super("VectorTokenRotation", name, args, options);
  }
}

/** The arguments of `SearchTokenRotation`. */
export interface SearchTokenRotationArgs extends RotationArgs {
  /** Id of the search index. Changing it replaces the resource, which resets the new index. */
  indexId: pulumi.Input<string>;
}

/**
 * Rotates the tokens of a search index, like `VectorTokenRotation`.
 *
 * @example
 * ```ts
 * const search = new SearchTokenRotation("search", {
 *   indexId: "idx-search",
 *   initialRotation: false, // without this line, the first `pulumi up` resets the tokens
 *   rotateEvery: "30d",
 * });
 * export const token = search.token;
 * ```
 */
export class SearchTokenRotation extends IndexTokenRotation {
  constructor(name: string, args: SearchTokenRotationArgs, options?: pulumi.CustomResourceOptions) {
    super("SearchTokenRotation", name, args, options);
  }
}

/** The arguments of `QueueTokenRotation`. */
export interface QueueTokenRotationArgs extends RotationArgs, OverlapArgs {
  /**
   * Id of the queue user, a UUID; an account has one for each region. Changing it replaces the resource, which rotates
   * the tokens of the new user.
   */
  queueUserId: pulumi.Input<string>;
  /**
   * Address of the queue of the user's region, where Rekey and a `CredentialVerification` try its tokens: https, or
   * http on a loopback address. An adoption, and rotations with `overlap: "none"`, try none. Changing it makes no
   * request.
   *
   * @default `rekey:queueUrl`
   */
  queueUrl?: pulumi.Input<string> | undefined;
}

/**
 * Rotates the tokens of a user of the message queue: when it is created, when its trigger changes, and when
 * `rotateEvery` has elapsed. By default, this is not an outage: the former tokens stay valid until they are retired
 * (`overlap`). Previews, refresh, destroy and import never change anything. With `overlap: "none"`, make the resource
 * depend on a `SigningKeyRotation` of the same program, whose roll is rejected if it uses a token that was replaced.
 *
 * A destroy warns if two tokens stay valid. The option `retainOnDelete` therefore defaults to false: remove the
 * resource before you uninstall the package.
 *
 * @example
 * ```ts
 * const queueUserId = "7b1ad1c2-0e7e-4e0c-9d3f-0c2c1c1f5a11";
 * const queue = new QueueTokenRotation("queue", {
 *   queueUserId,
 *   initialRotation: false, // without this line, the first `pulumi up` rotates the token
 *   rotateEvery: "30d",
 * });
 * const handed = new Retirement("queue", { access: queue.access, credential: queue.token });
 * // Yours: whatever uses it. After that, the former token is retired.
 * new pulumi.ComponentResource("shop:index:Deployment", "shop", { QSTASH_TOKEN: handed.credential });
 * ```
 */
export class QueueTokenRotation extends TokenRotation {
  /** Id of the queue user. */
  declare readonly queueUserId: pulumi.Output<string>;
  /** The record as the platform returned it with the last reset or a later read; undefined before the first of them. */
  declare readonly record: pulumi.Output<QueueUserRecord | undefined>;
  /** When the current token was generated (ISO 8601, UTC); undefined if it existed before the rotation. */
  declare readonly generatedAt: pulumi.Output<string | undefined>;
  /**
   * Since when the former token has been valid in addition to the current one (ISO 8601, UTC); undefined if it is not.
   * After a `Retirement` has retired it, this keeps its value until the next `up` or refresh.
   */
  declare readonly formerValidSince: pulumi.Output<string | undefined>;
  /** If `overlap` is a duration: until when the former token is valid (ISO 8601, UTC). The next `up` retires it. */
  declare readonly formerValidUntil: pulumi.Output<string | undefined>;
  /** When this resource, not a `Retirement`, retired the former token (ISO 8601, UTC); undefined if it has not. */
  declare readonly formerRetiredAt: pulumi.Output<string | undefined>;
  /**
   * Why a rotation that is due was not made by the last `up`, and by which one it will be: as long as two tokens are
   * valid, a third one cannot be made. Undefined if none waits.
   */
  declare readonly waits: pulumi.Output<string | undefined>;

  constructor(name: string, args: QueueTokenRotationArgs, options?: pulumi.CustomResourceOptions) {
    super("QueueTokenRotation", name, args, options);
  }
}
