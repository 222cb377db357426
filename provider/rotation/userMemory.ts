/** What is remembered of a Redis user, which belongs to one server. */
export interface UserMemory {
  readonly server: Server;
  /** A mark of the administrator as the program gives it. */
  readonly admin: string;
  /** By which the server lists the current password; undefined until one was added, or if that is not certain. */
  readonly hash?: string | undefined;
  /** Until the first rotation: how many passwords a read has shown. The first retirement removes all of them. */
  readonly passwordCount?: number | undefined;
  /** Whether the server has failed to save the last change of its users, which its restart would undo. */
  readonly isUnsaved?: true | undefined;
}

/** What is known of the server of a user. */
export interface Server {
  /** Its id, if it is a database of the platform. */
  readonly id?: string | undefined;
  /** Its host, as it is compared, and its port: `redis.example.com:6379` */
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
