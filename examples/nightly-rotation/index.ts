import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation, CredentialVerification } from "pulumi-rekey";

const config = new pulumi.Config();

// The program does not change: the first `up` after this time resets the password.
const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  version: config.get("version"), // `pulumi config set version 1`: the next `up` resets the password
  initialRotation: false, // without this line, the first `pulumi up` resets the password
  rotateEvery: config.get("rotateEvery") ?? "30d",
});

// Fails the run if the database does not accept the new password, or still accepts the old one.
const verification = new CredentialVerification("sessions", { access: rotation.access });

// What consumers need, as a secret. Pulumi ESC or another stack reads it from this one.
export const url = pulumi.all([rotation.connectionUrl, rotation.outcome]).apply(([known, outcome]) => {
  if (known !== undefined) return known;
  // Without this, scripts get `null` as the address.
  throw new pulumi.RunError(
    outcome === "adopted"
      ? "The database was adopted, and its password is not known before its first reset. Set a version to reset it now."
      : "The password was reset, but the platform neither sent nor showed the new one. Look for it in the console of the platform.",
  );
});
export const rotatedAt = rotation.rotatedAt;
export const verifiedAt = verification.verifiedAt;
export const nextRotationAt = rotation.nextRotationAt;
export const reason = rotation.rotationReason;
