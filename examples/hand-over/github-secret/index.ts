import * as github from "@pulumi/github";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", { databaseId: config.require("databaseId"), rotateEvery: "30d" });

// Fail, so that no consumer gets an empty address.
const url = rotation.connectionUrl.apply((sent) => {
  if (sent === undefined) throw new Error("The platform sent no password: copy it from where the platform shows it.");
  return sent;
});

new github.ActionsSecret("sessions", {
  repository: config.require("repository"),
  secretName: "SESSIONS_DATABASE_URL",
  value: url,
});
