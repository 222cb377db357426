import { signingKeyTable } from "../../records/otherSecrets";
import { type SecretKind } from "../../platform/secretKind";

/** The keys that sign the queue's messages. A reset makes the next one the current one. */
export const signingKeys: SecretKind = {
  service: "queue",
  paths: { reset: "/v2/keys/rotate", read: "/v2/keys" },
  table: signingKeyTable,
  idInput: "subject",
  onlyId: "signing-keys",
  word: "pair of signing keys",
  noun: "pair of signing keys",
  plural: "signing keys",
  duplicateCode: "REKEY_DUPLICATE_SECRET",
  minInterval: "1h",
};
