import type * as pulumi from "@pulumi/pulumi";
import { type OverlapArgs, Rotation, type RotationArgs } from "./rotation";

/** An administrator of a Redis server, who may change its users, and the address of the server. */
export interface AclAdminArgs {
  /** Host name or IP address of the server. */
  host: pulumi.Input<string>;
  /** Port of the server. */
  port: pulumi.Input<number>;
  /**
   * If `true`, the connection uses TLS. TLS can be switched off for loopback hosts only: a password never travels in
   * plain text.
   *
   * @default true
   */
  tls?: pulumi.Input<boolean> | undefined;
  /**
   * Name of the administrator. At Upstash, it needs permission for `ACL` commands; on your own Redis, the rules `-@all
   * +acl|getuser +acl|setuser +acl|save +info` are enough.
   *
   * @default `default`
   */
  username?: pulumi.Input<string> | undefined;
  /** Password of the administrator. */
  password: pulumi.Input<string>;
}

/** Where clients of a Redis user connect. */
export interface AclConnectionArgs {
  /**
   * Host name or IP address.
   *
   * @default the host of `admin`
   */
  host?: pulumi.Input<string> | undefined;
  /**
   * Port.
   *
   * @default the port of `admin`
   */
  port?: pulumi.Input<number> | undefined;
  /**
   * If `true`, clients use TLS. Without TLS, clients send the password in plain text, which is warned of, except on
   * this machine.
   *
   * @default true; for loopback hosts, that of `admin`
   */
  tls?: pulumi.Input<boolean> | undefined;
}

/** The arguments of `AclUserRotation`. */
export interface AclUserRotationArgs extends RotationArgs, OverlapArgs {
  /**
   * The administrator who changes the user, and the server: the output `access` of the `PasswordRotation` of the
   * database, or the address of the server and the password of an administrator. It is always a secret. After a change
   * of the address or the database, the next `up` reads first: if the list of the user there does not have the current
   * password, it fails, unless a new version or a date rotates that user. Changing only the administrator makes no
   * request.
   */
  admin: pulumi.Input<string | AclAdminArgs>;
  /**
   * Where clients connect, if that is not where `admin` does, as through a tunnel: only `connectionUrl`, `restUrl` and
   * `encryptedCredentials` are built from it. Rekey itself, and a `CredentialVerification`, use the address of `admin`.
   * Changing it makes no request.
   *
   * @default the address of `admin`
   */
  connection?: pulumi.Input<AclConnectionArgs> | undefined;
  /**
   * Name of an existing user, other than the administrator. Changing it replaces the resource, which rotates the new
   * user; the old one keeps its passwords. For the user `default` of a database at Upstash, use a `PasswordRotation`.
   */
  userName: pulumi.Input<string>;
}

/**
 * Rotates the password of a Redis user without an outage, because such a user can have several valid passwords. A
 * rotation adds a new one and proves that the server accepts it; the former one stays valid until it is retired
 * (`overlap`). The first rotation treats all passwords that the user already has as former ones. The rules of the user
 * are never changed. Previews, refresh and destroy never add or remove a password.
 *
 * A destroy warns if two passwords stay valid. The option `retainOnDelete` therefore defaults to false: remove the
 * resource before you uninstall the package.
 *
 * @example
 * ```ts
 * const cache = new PasswordRotation("cache", {
 *   databaseId: "96ad0856-03b1-4ee7-9666-e81abd0349e1",
 *   initialRotation: false, // without this line, the first `pulumi up` resets the password
 * });
 * const app = new AclUserRotation("app", { admin: cache.access, userName: "app", version: 1, rotateEvery: "30d" });
 * const handed = new Retirement("app", { access: app.access, credential: app.connectionUrl });
 * // Yours: whatever uses it. After that, the former password is retired.
 * new pulumi.ComponentResource("shop:index:Deployment", "shop", { REDIS_URL: handed.credential });
 * ```
 */
export class AclUserRotation extends Rotation {
  /** Name of the user. */
  declare readonly userName: pulumi.Output<string>;
  /** The password that the last rotation added; undefined before the first one. Secret. */
  declare readonly password: pulumi.Output<string | undefined>;
  /**
   * The URL with which clients of Redis connect: `rediss://user:password@host:port`, or `redis://` without TLS. Its
   * address is that of `connection`, else that of `admin`. Undefined before the first rotation. Secret.
   */
  declare readonly connectionUrl: pulumi.Output<string | undefined>;
  /** Token of the REST interface, which is the password; undefined if the server makes no tokens. Secret. */
  declare readonly restToken: pulumi.Output<string | undefined>;
  /** The URL of the REST interface: `https://` and the host. Undefined without `restToken`. Secret. */
  declare readonly restUrl: pulumi.Output<string | undefined>;
  /**
   * JSON text of what a `CredentialVerification` and a `Retirement` need: the password or its salted hash, and the
   * administrator, who retires former passwords. Secret.
   */
  declare readonly access: pulumi.Output<string>;

  /** When the current password was added (ISO 8601, UTC). */
  declare readonly generatedAt: pulumi.Output<string | undefined>;
  /**
   * Since when the oldest of the former passwords has been valid in addition to the current one (ISO 8601, UTC);
   * undefined if none is. After a `Retirement` has retired them, it keeps its value until the next `up` or refresh.
   */
  declare readonly formerValidSince: pulumi.Output<string | undefined>;
  /** If `overlap` is a duration: until when the oldest one is valid (ISO 8601, UTC). The next `up` retires it. */
  declare readonly formerValidUntil: pulumi.Output<string | undefined>;
  /** When this resource, not a `Retirement`, retired the former ones (ISO 8601, UTC); undefined if it has not. */
  declare readonly formerRetiredAt: pulumi.Output<string | undefined>;
  /**
   * How many passwords Rekey did not know at the last read: it never retires them. Undefined before the first read
   * after the first rotation. A refresh reads again.
   */
  declare readonly unknownPasswords: pulumi.Output<number | undefined>;
  /**
   * Why a rotation that is due was not made by the last `up`, and by which one it will be: a schedule waits for the
   * retirement of the former passwords, and a new version once there are ten. Undefined if none waits.
   */
  declare readonly waits: pulumi.Output<string | undefined>;

  constructor(name: string, args: AclUserRotationArgs, options?: pulumi.CustomResourceOptions) {
    super("AclUserRotation", name, args, options);
  }
}
