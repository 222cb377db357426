import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(__dirname, "../fixtures/tls");

/** The authority that signed `good`, `expired` and `otherHost`. */
export const caFile = join(folder, "ca.pem");

type Name = "good" | "expired" | "otherHost" | "foreign";

/** A server's certificate and key, generated once by `make.mjs` in the same folder. */
export function certificate(name: Name): { cert: Buffer; key: Buffer } {
  const [cert, key] = [`${name}.pem`, "server.key.pem"].map((file) => readFileSync(join(folder, file)));
  return { cert: cert!, key: key! };
}
