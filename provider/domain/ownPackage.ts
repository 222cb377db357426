/** The manifest of this package. It is read from the package itself, wherever that is installed or linked. */
export function ownManifest(): {
  readonly version: string;
  readonly engines: { readonly node: string };
} {
  return require("pulumi-rekey/package.json") as ReturnType<typeof ownManifest>;
}

export function packageVersion(): string {
  return ownManifest().version;
}
