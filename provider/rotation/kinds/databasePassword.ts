import { databaseTable } from "../../records/database";
import { type SecretKind } from "../../platform/secretKind";

/** The password of a database. Its paths are settings. */
export const databasePassword: SecretKind = {
  service: "management",
  table: databaseTable,
  idInput: "databaseId",
  word: "password",
  noun: "database",
  duplicateCode: "REKEY_DUPLICATE_DATABASE",
};
