// The first `pulumi up` adds a password to the user, and retires those that it has once all consumers use the new one.
import * as pulumi from "@pulumi/pulumi";
import { AclUserRotation, CredentialVerification, PasswordRotation } from "pulumi-rekey";
import { Deployment } from "../deployment";

const config = new pulumi.Config();

// The default user, who may change the others. Clients do not use it, so its reset would not be an outage.
const cache = new PasswordRotation("cache", {
  databaseId: config.require("databaseId"),
  initialRotation: false, // without this line, the first `pulumi up` resets the password
});

const app = new AclUserRotation("app", {
  admin: cache.access,
  userName: "app",
  version: config.get("version"),
  rotateEvery: "30d",
});

const url = app.connectionUrl.apply((known) => {
  if (known !== undefined) return known;
  throw new pulumi.RunError("The password is not known before the first rotation.");
});

const deployment = new Deployment("consumers", { file: config.require("file"), secret: url });

// The former password is retired once all consumers use the new one. If the deployment fails, both stay valid.
const verification = new CredentialVerification("app", {
  access: app.access,
  retireFormerAfter: [deployment.urn],
});

export const rotatedAt = app.rotatedAt;
export const formerRetiredAt = verification.formerRetiredAt;
