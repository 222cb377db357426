import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();

// The program does not change: the first `up` after this time resets the password.
const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  rotateEvery: config.get("rotateEvery") ?? "30d",
});

export const rotatedAt = rotation.rotatedAt;
export const nextRotationAt = rotation.nextRotationAt;
export const reason = rotation.rotationReason;
