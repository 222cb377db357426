import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PasswordRotation } from "pulumi-rekey";

/** Versions by database. */
const databases = JSON.parse(readFileSync(join(__dirname, "databases.json"), "utf8")) as Record<string, string>;
for (const [databaseId, version] of Object.entries(databases)) {
  new PasswordRotation(databaseId, { databaseId, version });
}
