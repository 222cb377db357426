import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", { databaseId: config.require("databaseId"), rotateEvery: "30d" });

// Fail, so that no consumer gets an empty password.
const password = rotation.password.apply((sent) => {
  if (sent === undefined) throw new Error("The platform sent no password: copy it from where the platform shows it.");
  return sent;
});
const url = pulumi.secret(pulumi.interpolate`rediss://default:${password}@${rotation.endpoint}:${rotation.port}`);

const secret = new kubernetes.core.v1.Secret("sessions", {
  metadata: {
    name: "sessions-database",
    // Tools that restart pods watch this annotation.
    annotations: { "example.com/rotated-at": rotation.rotatedAt.apply((at) => at ?? "") },
  },
  stringData: { url },
});

export const secretName = secret.metadata.name;
