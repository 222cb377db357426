/** What a CredentialVerification saves. */
export interface CredentialVerificationOutputs {
  readonly subject: string;
  /** Over HTTP: the one that is proven. */
  readonly credential?: string | undefined;
  readonly verified: boolean;
  readonly verifiedAt?: string | undefined;
  readonly formerRefused?: true | undefined;
  /** JSON text of a map of secrets to what is remembered of them. */
  readonly memory: string;
}
