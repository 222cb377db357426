import * as pulumi from "@pulumi/pulumi";
import { lastTransformation } from "../provider/engine/pulumiInternals";
import { DynamicResource, refuseOptions, refuseResource, resourceTitle } from "./dynamicResource";

/** A credential, or a map of credentials, that consumers are given. An undefined one is refused when it is known. */
type Handed = string | Record<string, pulumi.Input<string | undefined>> | undefined;

/** Without what is refused. */
type Known<T> = [T] extends [undefined]
  ? undefined
  : T extends string | undefined
    ? Exclude<T, undefined>
    : { [K in keyof T]: Exclude<T[K], undefined> };

/** The arguments of `Retirement`. */
export interface RetirementArgs<T extends Handed = Handed> {
  /** The output `access` of a `QueueTokenRotation` or an `AclUserRotation`. */
  access: pulumi.Input<string>;
  /**
   * The new secret as consumers need it: a text, such as the token or the `connectionUrl`, or a map of texts. It is
   * also the output `credential`. Undefined values are refused.
   *
   * @default none: consumers get it elsewhere, and replaced ones may be deleted after the former secret is retired
   */
  credential?: pulumi.Input<T> | undefined;
}

/**
 * Retires the former token or password after everything that uses the new one. Consumers take `credential` from it;
 * nothing else is listed. While a former one is valid, each `up` replaces this resource. The engine deletes the
 * replaced one at the end of the run, if nothing has failed, after old consumers that are replaced. That delete retires
 * the former one, if the current one is valid, and proves that it is refused. If it fails, the run fails, and the next
 * `up` tries it again at its end. Creates and updates send nothing, and neither does a destroy, which retires nothing.
 *
 * With `--continue-on-error`, the engine deletes although something has failed: do not use it. The options
 * `retainOnDelete`, `deleteBeforeReplace`, `protect` and `ignoreChanges` of `credential` are refused.
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
 * // Yours: whatever uses it.
 * new pulumi.ComponentResource("shop:index:Deployment", "shop", { QSTASH_TOKEN: handed.credential });
 * ```
 */
export class Retirement<T extends Handed = undefined> extends DynamicResource {
  /** The id, `retirement`. */
  declare readonly subject: pulumi.Output<string>;
  /** The argument `access`. Secret. */
  declare readonly access: pulumi.Output<string>;
  /** The argument `credential`, for consumers. Secret. */
  declare readonly credential: pulumi.Output<Known<pulumi.Unwrap<T>>>;
  /**
   * When the youngest of the former secrets was replaced that are retired at the end of the run (ISO 8601, UTC);
   * undefined if none is.
   */
  declare readonly retires: pulumi.Output<string | undefined>;

  /** @throws RekeyError if `access` is a resource instead of its output, and for the options that are refused */
  constructor(name: string, args: RetirementArgs<T>, options?: pulumi.CustomResourceOptions) {
    const { access, credential } = args;
    const of = resourceTitle("Retirement", name);
    refuseResource(of, access);
    const checkOptions: pulumi.ResourceTransformation = ({ opts }) => {
      // With other paths, nothing is retired. With that of the credential, consumers would keep what is.
      const ignoreChanges = (opts.ignoreChanges ?? []).filter((one) =>
        one.startsWith("credential"),
      );
      refuseOptions(
        of,
        { ...opts, ignoreChanges },
        {
          names: ["retainOnDelete", "deleteBeforeReplace", "protect", "ignoreChanges"],
          code: "REKEY_INPUT_INVALID",
          why: "its delete retires the former secret, after everything else has the new one",
        },
      );
      return undefined;
    };
    // The engine leaves out what is undefined, and so would not refuse it.
    const given = credential && pulumi.output(credential).apply(withNulls);
    super(
      "Retirement",
      name,
      { ...args, credential: given },
      {
        // A parent passes on what is not set.
        retainOnDelete: false,
        protect: false,
        ...options,
        transformations: [lastTransformation(checkOptions), ...(options?.transformations ?? [])],
      },
    );
  }
}

function withNulls(credential: unknown): unknown {
  return JSON.parse(
    JSON.stringify(credential ?? null, (_, value: unknown) => (value === undefined ? null : value)),
  ) as unknown;
}
