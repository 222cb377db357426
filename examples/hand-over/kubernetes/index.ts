import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", { databaseId: config.require("databaseId"), rotateEvery: "30d" });

// Fail, so that no consumer gets an empty address.
const url = rotation.connectionUrl.apply((sent) => {
  if (sent === undefined) throw new Error("The platform sent no password: copy it from where the platform shows it.");
  return sent;
});

const secret = new kubernetes.core.v1.Secret("sessions", {
  metadata: {
    name: "sessions-database",
    // Tools that restart pods watch this annotation.
    annotations: { "example.com/rotated-at": rotation.rotatedAt.apply((at) => at ?? "") },
  },
  stringData: { url },
});

export const secretName = secret.metadata.name;
