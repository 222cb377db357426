// The first `pulumi up` resets the password, unless you add `initialRotation: false`.
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();

const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  version: config.get("version"),
  // On the local platform, each database is a user of one Redis.
  connection: { username: config.get("user") ?? "default" },
});

// What consumers need, in one secret.
export const url = rotation.connectionUrl;
