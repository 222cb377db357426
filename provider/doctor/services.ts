import { type SecretKind } from "../domain/secretKind";
import { accounts, type Settings } from "../settings/settings";
import { type SettingName } from "../settings/table";

export type Service = NonNullable<SecretKind["service"]>;

export const services = Object.keys(accounts) as Service[];

/**
 * True if the settings name an account at a service, complete or not. A preset sets addresses of services that a
 * project may not use, and a project without flow control may have the address of the queue, too.
 */
export function namesAccount(settings: Settings, service: Service): boolean {
  const names = { management: accounts.management, queue: ["queueToken", "queueUserId"] as const };
  const isSet = (name: SettingName) => !["preset", undefined].includes(settings.find(name)?.source);
  return names[service].some(isSet);
}
