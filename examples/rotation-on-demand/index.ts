import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();

// A version that has not been seen is the request for one reset; what it says does not matter.
const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  version: config.get("version") ?? "1",
});

export const rotatedAt = rotation.rotatedAt;
export const rotationCount = rotation.rotationCount;
export const password = rotation.password; // a secret, where the platform sends it
