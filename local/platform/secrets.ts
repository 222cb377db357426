import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A random secret in hexadecimal digits. */
export function newSecret(bytes = 16): string {
  return randomBytes(bytes).toString("hex");
}

/** Whether a secret equals the expected one, in constant time. */
export function isSecret(given: string, expected: string): boolean {
  // Digests have the same length, so that the time does not reveal the length either.
  return timingSafeEqual(digest(given), digest(expected));
}

/** The SHA-256 of a secret in hexadecimal digits. */
export function hashOf(secret: string): string {
  return digest(secret).toString("hex");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
