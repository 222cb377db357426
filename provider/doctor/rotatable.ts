import { queueToken } from "../platform/queueToken";
import { type SecretKind } from "../platform/secretKind";
import { databasePassword } from "../rotation/kinds/databasePassword";
import { searchToken, vectorToken } from "../rotation/kinds/indexToken";
import { signingKeys } from "../rotation/kinds/signingKeys";

/** Every kind of secret that can be rotated, by the name of the resource that rotates it. */
export const rotatable: Readonly<Record<string, SecretKind>> = {
  PasswordRotation: databasePassword,
  VectorTokenRotation: vectorToken,
  SearchTokenRotation: searchToken,
  QueueTokenRotation: queueToken,
  SigningKeyRotation: signingKeys,
};

/** A secret of an account, as a key of a map. */
export function keyOf({ kind, id }: { readonly kind: SecretKind; readonly id: string }): string {
  return `${kind.noun} ${id}`;
}
