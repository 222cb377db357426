import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotationFleet } from "pulumi-rekey";

// The stack's name says which part of how many it is: `part-0-of-4`.
const [, part, parts] = /^part-(\d+)-of-([1-9]\d*)$/.exec(pulumi.getStack()) ?? [];
if (part === undefined || Number(part) >= Number(parts)) {
  throw new pulumi.RunError(`A stack of this project is named like part-0-of-4, not ${pulumi.getStack()}.`);
}

/** Stays the same for ever, whatever other databases there are: a database in another stack would be a new one. */
function partOf(databaseId: string): number {
  return createHash("sha256").update(databaseId).digest().readUInt32BE() % Number(parts);
}

const all = readFileSync(join(__dirname, "databases.txt"), "utf8").split("\n").filter(Boolean);
const databases = all.filter((databaseId) => partOf(databaseId) === Number(part));

const fleet = new PasswordRotationFleet("databases", {
  databases,
  version: new pulumi.Config().get("version") ?? "1",
});

export const count = databases.length;
export const failed = fleet.failed;
