import type * as pulumi from "@pulumi/pulumi";
import { databaseFields, type DatabaseRecord } from "../provider/records/database";
import { type Fields, type FieldValue } from "../provider/records/fields";
import { type ConnectionArgs, type RotationArgs, RotationWithRecord } from "./rotation";

/** Each field of a record as an output. */
export type OutputsOf<F extends Fields> = {
  readonly [K in keyof F]: pulumi.Output<FieldValue<F[K]> | undefined>;
};

/** The arguments of `PasswordRotation`. */
export interface PasswordRotationArgs extends RotationArgs {
  /**
   * Id of the database, for Upstash a UUID: `96ad0856-03b1-4ee7-9666-e81abd0349e1`. Changing it replaces the resource,
   * which resets the new database.
   */
  databaseId: pulumi.Input<string>;
  /**
   * Where, and as which user, clients connect. `connectionUrl` and `restUrl` are built from it. Changing it resets
   * nothing.
   *
   * @default the endpoint and port in the database's record
   */
  connection?: pulumi.Input<ConnectionArgs> | undefined;
}

/**
 * Rotates the password of a hosted database: when it is created, when its trigger changes, and when `rotateEvery` has
 * elapsed. Previews, refresh, destroy and import never reset anything.
 *
 * Each field of the database's record is also an output: `endpoint`, `port`, `tls` and so on.
 *
 * @example
 * ```ts
 * const sessions = new PasswordRotation("sessions", {
 *   databaseId: "96ad0856-03b1-4ee7-9666-e81abd0349e1",
 *   initialRotation: false, // without this line, the first `pulumi up` resets the password
 *   rotateEvery: "30d",
 * });
 * export const password = sessions.password;
 * ```
 */
export class PasswordRotation extends RotationWithRecord {
  /** Id of the database. */
  declare readonly databaseId: pulumi.Output<string>;
  /**
   * The database's record, as the platform returned it with the last reset or with a later read. Rekey reads it in an
   * adoption or a refresh if `rekey:databasePath` is set. Undefined until the platform has returned it.
   */
  declare readonly record: pulumi.Output<DatabaseRecord | undefined>;
  /** The password, if the platform returned it with the last reset or a later read. Secret. */
  declare readonly password: pulumi.Output<string | undefined>;
  /** Token of the REST interface, if the platform returned it with the last reset or a later read. Secret. */
  declare readonly restToken: pulumi.Output<string | undefined>;
  /**
   * Read-only token of the REST interface, if the platform returned it with the last reset or a later read. Secret.
   */
  declare readonly readOnlyRestToken: pulumi.Output<string | undefined>;
  /**
   * The URL with which Redis clients connect: `rediss://user:password@host:port`, or `redis://` without TLS. Undefined
   * if the password, the host or the port is not known. Secret.
   */
  declare readonly connectionUrl: pulumi.Output<string | undefined>;
  /**
   * The URL of the REST interface: `https://` and the host. Undefined if `restToken` or the host is not known. Secret.
   */
  declare readonly restUrl: pulumi.Output<string | undefined>;

  constructor(name: string, args: PasswordRotationArgs, options?: pulumi.CustomResourceOptions) {
    super("PasswordRotation", name, args, options);
  }
}

export interface PasswordRotation extends OutputsOf<Omit<typeof databaseFields, "databaseId">> {}

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
