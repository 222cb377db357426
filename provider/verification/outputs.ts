/** The outputs of a CredentialVerification. */
export interface CredentialVerificationOutputs {
  readonly subject: string;
  /** Over HTTP: the one that is proven. */
  readonly credential?: string | undefined;
  readonly verified: boolean;
  readonly verifiedAt?: string | undefined;
  /** False over HTTP only, if a later `up` has tried one, and it was accepted. */
  readonly formerRefused?: boolean | undefined;
  /** Over HTTP: those that were replaced and are not refused yet. */
  readonly formersValid?: number | undefined;
  /** JSON text of a map of secrets to what is remembered of them. */
  readonly memory: string;
}

/** The former credentials that are remembered over HTTP. */
export const maxFormers = 12;

/** @param count of former ones: `3`, `12 or more` */
export function countText(count: unknown): string {
  return `${String(count)}${count === maxFormers ? " or more" : ""}`;
}
