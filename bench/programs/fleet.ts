import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PasswordRotationFleet } from "pulumi-rekey";

/** Versions by database. */
const versions = JSON.parse(readFileSync(join(__dirname, "databases.json"), "utf8")) as Record<string, string>;
const version = Object.values(versions).at(-1) ?? "none";
const databases = Object.fromEntries(
  Object.entries(versions).map(([databaseId, own]) => [
    databaseId,
    own === version ? databaseId : { databaseId, version: own },
  ]),
);
new PasswordRotationFleet("fleet", { databases, version });
