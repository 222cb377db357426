/** The name in a program of a name on the wire: `db_max_clients` is `dbMaxClients`, `securityAddons` stays. */
export function camelCase(wireName: string): string {
  return wireName.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
