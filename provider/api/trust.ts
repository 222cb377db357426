import { readFileSync } from "node:fs";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";

/** TLS options to trust certificates (PEM) besides the well-known ones, and besides those of `NODE_EXTRA_CA_CERTS`, which Node itself trusts. */
export function trusting(certificates: string | undefined): { readonly secureContext?: SecureContext } {
  if (certificates === undefined) return {};
  return { secureContext: createSecureContext({ ca: [...rootCertificates, ...namedToNode(), certificates] }) };
}

/** Where they cannot be read, Node has warned of it at its start. */
function namedToNode(): string[] {
  const file = process.env["NODE_EXTRA_CA_CERTS"];
  if (!file) return [];
  try {
    return [readFileSync(file, "utf8")];
  } catch {
    return [];
  }
}
