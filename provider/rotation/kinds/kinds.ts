import { queueToken } from "../../platform/queueToken";
import { type SecretKind } from "../../platform/secretKind";
import { databasePassword } from "./databasePassword";
import { searchToken, vectorToken } from "./indexToken";
import { signingKeys } from "./signingKeys";

/** Every kind of secret that can be rotated, by the name of the resource that rotates it. */
export const kinds = {
  PasswordRotation: databasePassword,
  VectorTokenRotation: vectorToken,
  SearchTokenRotation: searchToken,
  QueueTokenRotation: queueToken,
  SigningKeyRotation: signingKeys,
} satisfies Readonly<Record<string, SecretKind>>;

/** The name of a resource that rotates one secret. */
export type RotationType = keyof typeof kinds;
