import { type AnyResource } from "../../resource";
import { resourceOf } from "../resources";

/** The start of the types of the package. */
const typePrefix = "rekey:index:";

/** The name in a URN: `urn:pulumi:stack::project::parent$type::name`. */
export function nameIn(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

/**
 * Whether a provider has a name that the engine gives its own ones: `default`, `default_0_1_0`, or
 * `default_0_1_0_github_/api.github.com/owner/name` with the address that the plugin was installed from. The program
 * may name others `default_eu` or `default_1`.
 *
 * @param version the plugin's, which the engine adds to the settings; undefined if the program asks for none
 */
export function isDefaultProvider(urn: string, version: unknown): boolean {
  const base = typeof version === "string" ? `default_${version}` : "default";
  const [written, expected] = [nameIn(urn), base].map((name) => name.replace(/[.+-]/g, "_")) as [string, string];
  return written.startsWith(expected) && /^(_[a-z]+_\/.*)?$/.test(written.slice(expected.length));
}

/** @throws InputError if the URN is that of another type */
export function resourceIn(urn: string): AnyResource {
  const type = urn.split("::")[2]?.split("$").at(-1) ?? "";
  return resourceOf(type.startsWith(typePrefix) ? type.slice(typePrefix.length) : type);
}
