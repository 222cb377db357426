import { RequestError, SettingsError } from "../platform/errors";
import { queueToken, type SecretKind, type Subject, kinds } from "../platform/secretKind";
import { type PlatformClient } from "../platformClient";

/** A secret that the account has. */
export interface ListedSecret extends Subject {
  /** Its name, or the region of a queue user, which has none. */
  readonly name?: string;
  /** When what has the secret was created; undefined if the platform does not show it. */
  readonly createdAt?: Date;
}

/** A kind of secret of which it is unknown what the account has. */
export interface Unlisted {
  readonly kind: SecretKind;
  /** Why, in messages: `the platform responded with 404` */
  readonly why: string;
  readonly fix: string;
}

/** The secrets of an account, as far as it lists them. Only reads are sent. */
export async function listSecrets(client: PlatformClient): Promise<(ListedSecret | Unlisted)[]> {
  return (await Promise.all(Object.values<SecretKind>(kinds).map((kind) => listKind(client, kind)))).flat();
}

async function listKind(client: PlatformClient, kind: SecretKind): Promise<ListedSecret[] | Unlisted> {
  try {
    if (kind.onlyId === undefined) return (await client.list(kind)).map((record) => secretIn(kind, record));
    await client.operations(kind).read(kind.onlyId);
    return [{ kind, id: kind.onlyId }];
  } catch (error) {
    if (error instanceof SettingsError) return { kind, why: error.problem, fix: error.advice };
    if (!(error instanceof RequestError)) throw error;
    return { kind, why: error.happened, fix: error.advice };
  }
}

function secretIn(kind: SecretKind, record: Readonly<Record<string, unknown>>): ListedSecret {
  const { databaseName, name = databaseName, region, creationTime } = record;
  const shown = kind === queueToken ? region : name;
  return {
    kind,
    id: record[kind.table.id ?? ""] as string,
    ...(typeof shown === "string" && { name: shown }),
    ...(typeof creationTime === "number" && { createdAt: new Date(creationTime * 1000) }),
  };
}
