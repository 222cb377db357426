// The first `pulumi up` resets the passwords of all databases, unless you add `initialRotation: false`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type FleetMemberArgs, PasswordRotationFleet } from "pulumi-rekey";

/** The contents of fleet.json. */
interface Settings {
  readonly version: string;
  readonly rotateEvery?: string;
  readonly databases: Record<string, string | FleetMemberArgs>;
}

const settings = JSON.parse(readFileSync(join(__dirname, "fleet.json"), "utf8")) as Settings;
const fleet = new PasswordRotationFleet("databases", { ...settings, maxFailures: 20 });

export const states = fleet.states;
export const failed = fleet.failed;
export const lastRotated = fleet.lastRotated;
export const credentials = fleet.credentials; // a secret
