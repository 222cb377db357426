/** A user belongs to one server, on which an administrator changes it. */
export interface UserMemory {
  readonly server: Server;
  /** A mark of the administrator as the program gives it. */
  readonly admin: string;
  /** By which the server knows the current password; undefined until Rekey has added one. */
  readonly hash?: string | undefined;
}

/** A server of users, by whatever is known of it. */
export interface Server {
  /** The id of the database that it is. */
  readonly id?: string | undefined;
  /** Its host and port: `redis.example.com:6379` */
  readonly address?: string | undefined;
}

/** An administrator as a program gives it: the output `access` of the rotation of its password, or its values. */
export type AdminInput = string | AdminValues;

export interface AdminValues {
  readonly host: string;
  readonly port: number;
  /** Default: true. */
  readonly tls?: boolean | null | undefined;
  /** Default: the user `default`. */
  readonly username?: string | null | undefined;
  readonly password: string;
}
