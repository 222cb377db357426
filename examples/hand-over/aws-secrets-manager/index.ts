import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", { databaseId: config.require("databaseId"), rotateEvery: "30d" });

// Fail, so that no consumer gets an empty address.
const url = rotation.connectionUrl.apply((sent) => {
  if (sent === undefined) throw new Error("The platform sent no password: copy it from where the platform shows it.");
  return sent;
});

const secret = new aws.secretsmanager.Secret("sessions", { name: "sessions-database" });
new aws.secretsmanager.SecretVersion("sessions", { secretId: secret.id, secretString: url });

export const secretArn = secret.arn;
