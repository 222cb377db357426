// The first `pulumi up` resets the passwords of all databases, unless you add `initialRotation: false`.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotationFleet } from "pulumi-rekey";

// The name of the stack contains the part and the number of parts: `part-0-of-4`.
const [, part, parts] = /^part-(\d+)-of-([1-9]\d*)$/.exec(pulumi.getStack()) ?? [];
if (part === undefined || Number(part) >= Number(parts)) {
  throw new pulumi.RunError(`A stack of this project is named like part-0-of-4, not ${pulumi.getStack()}.`);
}

/** Depends only on the id: in another stack the database would be new, and so be reset. */
function partOf(databaseId: string): number {
  return createHash("sha256").update(databaseId).digest().readUInt32BE() % Number(parts);
}

const all = readFileSync(join(__dirname, "databases.txt"), "utf8").split("\n").filter(Boolean);
const databases = all.filter((databaseId) => partOf(databaseId) === Number(part));

const fleet = new PasswordRotationFleet("databases", {
  databases,
  // A default would turn the removal of the setting into a change, which resets all databases.
  version: new pulumi.Config().get("version"),
});

export const count = databases.length;
export const failed = fleet.failed;
