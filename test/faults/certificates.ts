import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(__dirname, "../fixtures/tls");

/** The authority that signed `good`, `expired` and `otherHost`. */
export const caFile = join(folder, "ca.pem");

type Name = "good" | "expired" | "otherHost" | "foreign";

/** The files of a server's certificate and key, generated once by `make.mjs` in the same folder. */
function certificateFiles(name: Name): { cert: string; key: string } {
  return { cert: join(folder, `${name}.pem`), key: join(folder, "server.key.pem") };
}

/** A server's certificate and key. */
export function certificate(name: Name): { cert: Buffer; key: Buffer } {
  const { cert, key } = certificateFiles(name);
  return { cert: readFileSync(cert), key: readFileSync(key) };
}
