import { RequestError, SettingsError } from "../domain/errors";
import { kinds, queueToken, type SecretKind, type Subject } from "../domain/secretKind";
import { type PlatformClient } from "../run/platformClient";
import { type Settings } from "../settings/settings";
import { namesAccount } from "./services";
import { type StackState } from "./stackState";

/** A secret that the account has. */
export interface ListedSecret extends Subject {
  /** Its name, or the region of a queue user, which has none. */
  readonly name?: string | undefined;
  /** When what has the secret was created, in milliseconds; undefined if the platform does not show it. */
  readonly createdAt?: number | undefined;
}

/** A kind of secret of which it is unknown what the account has. */
export interface Unlisted {
  readonly kind: SecretKind;
  /** Why, and what to do: `the platform responded with 404. Check …` */
  readonly why: string;
}

/** A kind of secret that was not looked at: no setting names an account that has some, and no stack rotates one. */
export interface NotLookedAt {
  readonly kind: SecretKind;
  /** `rekey:queueToken is not set` */
  readonly unset: string;
}

export type InAccount = ListedSecret | Unlisted | NotLookedAt;

/** What an account can list: Redis users are in no list. */
export const listable = kinds.filter(({ shape }) => shape !== "redis");

/** Lists what an account has. Only reads are sent. */
export async function listAccount(
  client: PlatformClient,
  settings: Settings,
  states: readonly StackState[],
): Promise<InAccount[]> {
  const listed = listable.map(async (kind) => {
    return notLookedAt(kind, settings, states) ?? (await listKind(client, kind));
  });
  return (await Promise.all(listed)).flat();
}

/** Without its settings, an account is of no use to Rekey, unless a stack rotates one of its secrets. */
function notLookedAt(
  kind: SecretKind,
  settings: Settings,
  states: readonly StackState[],
): NotLookedAt | undefined {
  const isRotated = states.some(
    ({ rotated }) => typeof rotated !== "string" && rotated.some((one) => one.kind === kind),
  );
  if (kind.service === undefined || isRotated || namesAccount(settings, kind.service)) {
    return undefined;
  }
  const error = settings.errorFor(kind.service);
  return error && { kind, unset: error.problem };
}

async function listKind(
  client: PlatformClient,
  kind: SecretKind,
): Promise<ListedSecret[] | Unlisted> {
  try {
    if (kind.onlyId === undefined) {
      return (await client.list(kind)).map((record) => secretIn(kind, record));
    }
    await client.operations(kind).read(kind.onlyId);
    return [{ kind, id: kind.onlyId }];
  } catch (error) {
    if (error instanceof SettingsError) return { kind, why: `${error.problem}. ${error.advice}` };
    if (!(error instanceof RequestError)) throw error;
    return { kind, why: `${error.happened}. ${error.advice}` };
  }
}

function secretIn(kind: SecretKind, record: Readonly<Record<string, unknown>>): ListedSecret {
  const { databaseName, name = databaseName, region, creationTime } = record;
  const shown = kind === queueToken ? region : name;
  return {
    kind,
    id: record[kind.table.id ?? ""] as string,
    name: typeof shown === "string" ? shown : undefined,
    createdAt: typeof creationTime === "number" ? creationTime * 1000 : undefined,
  };
}
