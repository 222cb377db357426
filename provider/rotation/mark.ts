import { createHmac, randomBytes } from "node:crypto";

/** Marks with the same salt can be compared. */
export function newSalt(): string {
  return randomBytes(16).toString("base64url");
}

/** 96 bits of an HMAC-SHA256: a version may be a short secret, which a plain hash would reveal. */
export function saltedMark(salt: string, text: string): string {
  const mac = createHmac("sha256", Buffer.from(salt, "base64url")).update(text).digest();
  return mac.subarray(0, 12).toString("base64url");
}
