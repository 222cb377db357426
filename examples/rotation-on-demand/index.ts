// The first `pulumi up` resets the password, unless you add `initialRotation: false`.
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();

// Each change of the version resets the password once. The value has no other meaning. A default would turn the removal
// of the setting into a change.
const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  version: config.get("version"),
});

export const rotatedAt = rotation.rotatedAt;
export const rotationCount = rotation.rotationCount;
export const password = rotation.password; // a secret; undefined if the platform does not send or show it
