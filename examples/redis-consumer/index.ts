import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();

const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  version: config.get("version") ?? "1",
});

// What consumers need, in one secret. `user` and `scheme` are those of the database: on the local platform each
// database is a user of one Redis without TLS.
const user = config.get("user") ?? "default";
const scheme = config.get("scheme") ?? "rediss";
export const url = pulumi.secret(
  pulumi.interpolate`${scheme}://${user}:${rotation.password}@${rotation.endpoint}:${rotation.port}`,
);
