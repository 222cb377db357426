import type * as pulumi from "@pulumi/pulumi";

/** Where and as which user clients connect to a database. Changing any of them resets nothing. */
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
   * @default that of the database's record
   */
  port?: pulumi.Input<number> | undefined;
  /**
   * Whether to use TLS. It can be switched off for loopback hosts only: a password never travels in plain text.
   *
   * @default true; for loopback hosts that of the database's record
   */
  tls?: pulumi.Input<boolean> | undefined;
  /**
   * Name of the user, in which `{id}` is replaced by the id of the database.
   *
   * @default `default`; an empty text leaves it out of the URL
   */
  username?: pulumi.Input<string> | undefined;
}
