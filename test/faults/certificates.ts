import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(__dirname, "../fixtures/tls");

/** The authority that signed `good`, `expired` and `otherHost`. */
export const caFile = join(folder, "ca.pem");

/** A server's certificate and key, made once by `make.mjs` beside it. */
export function certificate(name: "good" | "expired" | "otherHost" | "foreign"): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(join(folder, `${name}.pem`)), key: readFileSync(join(folder, "server.key.pem")) };
}
