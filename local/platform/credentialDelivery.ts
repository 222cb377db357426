/** Which responses contain credentials: to a reset (`once`), to a read (`read`), to both (`always`) or to neither. */
export type CredentialDelivery = "always" | "read" | "once" | "never";

/** Whether the response to a reset contains credentials. */
export function isInReset(delivery: CredentialDelivery): boolean {
  return delivery === "always" || delivery === "once";
}

/** Whether the response to a read contains credentials. */
export function isInRead(delivery: CredentialDelivery): boolean {
  return delivery === "always" || delivery === "read";
}
