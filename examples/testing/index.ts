// The first `pulumi up` resets the password, unless you add `initialRotation: false`.
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const { databaseId, version } = new pulumi.Config().requireObject<{ databaseId: string; version: number }>("rotation");

const rotation = new PasswordRotation("sessions", { databaseId, version });

// For the consumers of the database.
export const connection = rotation.connectionUrl;
export const rotatedAt = rotation.rotatedAt;
