import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PasswordRotationFleet } from "pulumi-rekey";

/** Versions by database. */
const wanted = JSON.parse(readFileSync(join(__dirname, "databases.json"), "utf8")) as Record<string, string>;
const version = Object.values(wanted).at(-1) ?? "none";
const databases = Object.fromEntries(
  Object.entries(wanted).map(([databaseId, own]) => [
    databaseId,
    own === version ? databaseId : { databaseId, version: own },
  ]),
);
new PasswordRotationFleet("fleet", { databases, version });
