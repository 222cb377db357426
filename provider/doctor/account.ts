import { RequestError, SettingsError } from "../domain/errors";
import {
  type AccountService,
  kindsOfAccount,
  type SecretKind,
  type Subject,
} from "../domain/secretKind";
import { type PlatformClient } from "../run/platformClient";
import { accounts, type Settings } from "../settings/settings";
import { type SettingName } from "../settings/table";
import { type StackState } from "./stackState";

/** A secret that the account has. */
export interface ListedSecret extends Subject {
  /** Its name or, if it has none, its region. */
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
interface NotLookedAt {
  readonly kind: SecretKind;
  /** `rekey:queueToken is not set` */
  readonly unset: string;
}

export type InAccount = ListedSecret | Unlisted | NotLookedAt;

/**
 * Lists what an account has. Only reads are sent. Without its settings, a service is not looked at, unless a stack
 * rotates one of its secrets.
 */
export async function listSecrets(
  client: PlatformClient,
  settings: Settings,
  states: readonly StackState[],
): Promise<InAccount[]> {
  const rotated = states.flatMap((state) => state.rotated);
  const listed = kindsOfAccount.map(async (kind): Promise<InAccount[]> => {
    const service = kind.service as AccountService;
    const isNamed = namesAccount(settings, service) || rotated.some((one) => one.kind === kind);
    const error = isNamed ? undefined : settings.errorFor(service);
    return error ? [{ kind, unset: error.problem }] : listKind(client, kind);
  });
  return (await Promise.all(listed)).flat();
}

/**
 * True if the settings name an account at a service, complete or not. A preset sets addresses of services that a
 * project may not use, and a project without flow control may have the address of the queue, too.
 */
export function namesAccount(settings: Settings, service: AccountService): boolean {
  const names = { management: accounts.management, queue: ["queueToken", "queueUserId"] as const };
  const isSet = (name: SettingName) => !["preset", undefined].includes(settings.find(name)?.source);
  return names[service].some(isSet);
}

async function listKind(client: PlatformClient, kind: SecretKind): Promise<InAccount[]> {
  const { onlyId, table } = kind;
  try {
    if (onlyId !== undefined) {
      await client.operations(kind).read(onlyId);
      return [{ kind, id: onlyId }];
    }
    const records = await client.list(kind);
    return records.map((record) => {
      const { databaseName, name = databaseName, region, creationTime } = record;
      return {
        kind,
        id: String(record[table.id ?? ""]),
        name: [name, region].find((shown) => typeof shown === "string"),
        createdAt: typeof creationTime === "number" ? creationTime * 1000 : undefined,
      };
    });
  } catch (error) {
    if (error instanceof SettingsError) return [{ kind, why: `${error.problem}. ${error.advice}` }];
    if (!(error instanceof RequestError)) throw error;
    return [{ kind, why: `${error.happened}. ${error.advice}` }];
  }
}
