import { createHash, createHmac } from "node:crypto";
import { newSecret } from "../secrets";

/** How long a signature is valid, in seconds. */
const lifetime = 300;

/**
 * The header `Upstash-Signature` of a delivery: a JWT that is signed with HMAC-SHA256.
 *
 * @param key the current signing key
 * @param body the body as it is sent
 * @param now Unix time in milliseconds
 */
export function signature(key: string, destination: string, body: Buffer | string, now: number): string {
  const iat = Math.floor(now / 1000);
  const claims = {
    iss: "Upstash",
    sub: destination,
    exp: iat + lifetime,
    nbf: iat,
    iat,
    jti: `jwt_${newSecret()}`,
    // With padding, as the public platform sends it.
    body: `${createHash("sha256").update(body).digest("base64url")}=`,
  };
  const signed = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
