/** The version of this package. It is read from the package itself, wherever that is installed or linked. */
export function packageVersion(): string {
  return (require("pulumi-rekey/package.json") as { version: string }).version;
}
