// The first `pulumi up` resets the password, unless you add `initialRotation: false`.
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

/** The program. It is a function, so that a test can run it many times. */
export function sessions() {
  const { databaseId, version } = new pulumi.Config().requireObject<{ databaseId: string; version: number }>(
    "rotation",
  );
  const rotation = new PasswordRotation("sessions", { databaseId, version });
  // The connection is for the consumers of the database.
  return { connection: rotation.connectionUrl, rotatedAt: rotation.rotatedAt };
}
